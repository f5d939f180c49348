import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { EVENTS_KEPT } from '../state/model/record.ts'
import { openStore } from '../state/openStore.ts'
import { controllerScene, manifestFiles } from '../testing/controllerScene.ts'
import { startFaultProxy } from '../testing/faultProxy.ts'
import { gitRepository } from '../testing/gitRepository.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { testController } from '../testing/testController.ts'

let store: TestServer['store']
const { apiKey, controllerOf, client, server, services, names, intervals, changeInterval } = controllerScene(
  async (options) => {
    const started = await startServer(options)
    store = started.store
    return started
  },
)

test('a push is applied after the webhook, and a cycle without changes takes one request', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  expect(await one.nextCycle()).toMatchObject({
    headline: 'Ready',
    lastRun: { trigger: 'start', outcome: 'converged', counts: { created: 1 } },
  })
  expect(await one.nextCycle()).toMatchObject({
    lastRun: { trigger: 'interval', requests: 1, counts: { unchanged: 1 } },
  })

  const sha = one.repository.commit(manifestFiles('b'))
  expect(await one.push()).toBe(202)
  expect(await one.nextCycle()).toMatchObject({
    appliedCommit: sha,
    commit: { sha },
    lastRun: { trigger: 'webhook', outcome: 'converged' },
  })
  expect(await names()).toEqual(['a', 'b'])
})

test('the history of a service names tool, repository, commit and file of each change', async () => {
  const one = await controllerOf()
  const sha = one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()

  const [service] = await services()
  const [generation] = await store.generationsOf(service?.id ?? '')

  expect(generation?.origin).toMatchObject({
    tool: 'pharos',
    repository: one.repository.url,
    commit: sha,
    path: 'monitoring/a.yaml',
  })
})

test('a manual change is reverted within one interval, and reported for each field', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a', 'b'))
  one.start()
  await one.nextCycle()
  await changeInterval('a', 300)

  const startedAtMs = one.clock.nowMs()
  expect(await one.nextCycle()).toMatchObject({
    headline: 'Ready',
    lastRun: { trigger: 'interval', counts: { updated: 1 } },
  })

  expect(one.clock.nowMs() - startedAtMs).toBeLessThanOrEqual(66_000)
  expect(await intervals()).toEqual({ a: 60, b: 60 })
  expect(one.events.filter(({ type }) => type === 'DriftHealed').map(({ message }) => message)).toEqual([
    'a was changed outside git and reverted: interval: 5m → 1m',
  ])
})

test('a set with a state in git keeps it there, and a later controller continues from it', async () => {
  const [states, repository] = [gitRepository(), gitRepository()]
  onTestFinished(() => {
    states.remove()
    repository.remove()
  })
  const shared = {
    url: server().url,
    apiKey: apiKey(),
    repository,
    more: `    state: "git:${states.url}#refs/pharos/shop"\n`,
    env: { PHAROS_STATE_KEY: randomBytes(32).toString('hex') },
  }
  const one = await testController(shared)
  repository.commit(manifestFiles('a', 'b'))
  one.start()
  const done = () => one.shop().lastRun?.outcome === 'converged'
  await one.until(done, 24 * 3_600_000)
  expect(await names()).toEqual(['a', 'b'])
  await one.close()

  const { services: kept } = await client().listServices()
  const later = await controllerOf(shared)
  repository.commit({ 'monitoring/b.yaml': manifestOf('b').replace('60s', '90s') })
  later.start()
  await later.until(async () => (await intervals()).b === 90, 24 * 3_600_000)
  expect((await services()).map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort())
  expect(states.git('for-each-ref', '--format=%(refname)')).toContain('refs/pharos/shop')
})

test('with drift: report a manual change is shown and kept, and with ignore it is not shown', async () => {
  const one = await controllerOf({ more: '    drift: report\n' })
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  await changeInterval('a', 300)

  const status = await one.nextCycle()

  expect(status).toMatchObject({
    headline: 'Drifted',
    counts: { Drifted: 1 },
    services: [{ key: 'a', state: 'Drifted' }],
  })
  expect(status.services[0]?.fields).toMatchObject([{ pointer: '/interval_secs', from: 300, to: 60 }])
  expect(await intervals()).toEqual({ a: 300 })
  await one.nextCycle()
  expect(one.events.filter(({ type }) => type === 'DriftFound')).toHaveLength(1)
})

test('a removed manifest has its service paused, and deleted a day later', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a', 'b'))
  one.start()
  await one.nextCycle()
  one.repository.commit({ 'monitoring/b.yaml': null })
  const status = await one.nextCycle()

  expect(status.services).toMatchObject([
    { key: 'a', state: 'Synced' },
    { key: 'b', state: 'Removing' },
  ])
  expect((await services()).map(({ name, paused_at }) => [name, paused_at != null])).toEqual([
    ['a', false],
    ['b', true],
  ])
  one.clock.advance(24 * 3_600_000)
  await one.nextCycle()
  await one.nextCycle()
  expect(await names()).toEqual(['a'])
})

test('a change blocked by a safety limit waits for its digest, by the API or by a commit', async () => {
  const one = await controllerOf({
    more: '    brakes: {maxDeletes: {count: 0, percent: 0}}\n    prune: policy\n',
  })
  one.repository.commit(manifestFiles('a', 'b', 'c'))
  one.start()
  await one.nextCycle()
  one.repository.commit({ 'monitoring/c.yaml': null })
  const held = await one.nextCycle()
  const digest = held.approvals[0]?.digest ?? ''

  expect(held).toMatchObject({
    headline: 'ApprovalRequired',
    lastRun: { outcome: 'withheld' },
    approvals: [{ brakes: [{ brake: 'maxDeletes' }], changes: ['delete c'] }],
  })
  expect(await one.api('/api/approve/0000000000000000')).toMatchObject([404, {}])
  expect(await one.api(`/api/approve/${digest}`, { actor: 'ada' })).toMatchObject([202, { set: 'shop' }])
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready', approvals: [] })
  expect(await names()).toEqual(['a', 'b'])

  one.repository.commit({ 'monitoring/b.yaml': null })
  const next = (await one.nextCycle()).approvals[0]?.digest ?? ''
  one.repository.commit({}, `yes, remove it\n\nPharos-Approve: ${next}`)
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
  expect(await names()).toEqual(['a'])
})

test('an approval by a commit is not used again after a thousand events', async () => {
  const [repository, folder] = [gitRepository(), mkdtempSync(join(tmpdir(), 'pharos-approved-'))]
  onTestFinished(() => {
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const more = '    brakes: {maxDeletes: {count: 0, percent: 0}}\n    prune: policy\n'
  const shared = { url: server().url, apiKey: apiKey(), repository, folder, more }
  const first = await testController(shared)
  repository.commit(manifestFiles('a', 'b'))
  first.start()
  await first.nextCycle()
  repository.commit({ 'monitoring/b.yaml': null })
  const digest = (await first.nextCycle()).approvals[0]?.digest ?? ''
  repository.commit({}, `yes, remove it\n\nPharos-Approve: ${digest}`)
  expect(await first.nextCycle()).toMatchObject({ headline: 'Ready' })
  await first.close()
  const state = () => openStore(join(folder, 'shop.db'), {})
  const busy = await state()
  await busy.acquire('another process')
  const event = { at: '', runId: null, key: null, type: 'Notice', severity: 'info', message: '' } as const
  await busy.note(Array.from({ length: EVENTS_KEPT }, () => event))
  await busy.close()

  const second = await testController(shared)
  second.start()
  await second.nextCycle()
  await second.close()

  const after = await state()
  expect(await after.approvals()).toEqual([])
  await after.close()
})

test('a suspended set is planned but not changed until it is resumed or the suspension ends', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  expect((await one.api('/api/sets/shop/suspend', { reason: 'release', actor: 'ada', for: '2h' }))[0]).toBe(
    202,
  )
  one.repository.commit(manifestFiles('b'))
  await one.nextCycle()

  expect(await one.nextCycle()).toMatchObject({
    headline: 'Suspended',
    suspensions: [{ reason: 'release', actor: 'ada' }],
    services: [
      { key: 'a', state: 'Synced' },
      { key: 'b', state: 'Suspended' },
    ],
  })
  one.clock.advance(2 * 3_600_000)
  await one.nextCycle()
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
  expect(await names()).toEqual(['a', 'b'])

  await one.api('/api/sets/shop/suspend', { reason: 'again' })
  expect(await one.nextCycle()).toMatchObject({ headline: 'Suspended' })
  expect((await one.api('/api/sets/shop/resume'))[0]).toBe(202)
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready', suspensions: [] })
  expect((await one.api('/api/sets/shop/resume'))[0]).toBe(409)
})

test('a secret that is rotated in its file is sent without a new commit', async () => {
  const one = await controllerOf()
  const secrets = join(one.folder, 'secrets')
  mkdirSync(secrets)
  const two = await controllerOf({ more: `    secretsDir: ${secrets}\n`, repository: one.repository })
  writeFileSync(join(secrets, 'token'), 'first')
  one.repository.commit({
    'monitoring/a.yaml': manifestOf('a', `      headers: {Authorization: {file: ${secrets}/token}}\n`),
  })
  two.start()
  await two.nextCycle()
  expect(await two.nextCycle()).toMatchObject({ lastRun: { counts: { updated: 0, unchanged: 1 } } })
  writeFileSync(join(secrets, 'token'), 'the second')
  expect(await two.nextCycle()).toMatchObject({ lastRun: { counts: { updated: 1 } } })
  expect(await two.nextCycle()).toMatchObject({ lastRun: { counts: { updated: 0 } } })
})

test('no approval is offered for changes that an approval cannot release', async () => {
  const one = await controllerOf({ more: '    prune: policy\n' })
  one.repository.commit(manifestFiles('a', 'b', 'c', 'd', 'e'))
  one.start()
  await one.nextCycle()
  one.repository.git('mv', 'monitoring', 'elsewhere')
  one.repository.commit({})

  expect(await one.nextCycle()).toMatchObject({
    headline: 'ManifestsInvalid',
    conditions: [{ message: 'the path does not exist, so its services are not removed' }],
    approvals: [],
    counts: { Pending: 5 },
  })
})

test('a set says that its path does not exist before it has services, and quotes the first problem of a manifest', async () => {
  const one = await controllerOf({ more: '    variables: [OTHER]\n', env: { TOKEN: 'a-token' } })
  one.repository.commit({ 'elsewhere/a.yaml': manifestOf('a') })
  one.start()
  expect(await one.nextCycle()).toMatchObject({
    headline: 'ManifestsInvalid',
    conditions: [
      { message: 'the path does not exist', todo: 'restore the folder, or correct the path of the set' },
    ],
  })
  expect(one.events.find(({ type }) => type === 'RunFinished')?.message).toBe('partial')

  one.repository.commit({ 'monitoring/a.yaml': 'apiVersion: pharos/v1\nkind: Servise\n' })

  expect((await one.nextCycle()).conditions).toMatchObject([
    {
      type: 'ManifestsInvalid',
      message:
        '1 problem in the manifests: monitoring/a.yaml:2:7: [E_KIND] kind must be one of Service, Defaults, Environment (did you mean Service?)',
    },
  ])

  const headers = '      headers: {Authorization: {env: TOKEN}}\n'
  one.repository.commit({ 'monitoring/a.yaml': `${manifestOf('a')}${headers}` })

  expect((await one.nextCycle()).conditions[0]?.message).toContain(
    'TOKEN, which manifests of this set may not read (add it to "variables" of the set, unless it is a secret of the',
  )
})

test('the same drift of many services is reported as a suspected server change, and one approval reverts all of it', async () => {
  const one = await controllerOf()
  const keys = Array.from({ length: 12 }, (_, index) => `s${index}`)
  one.repository.commit(manifestFiles(...keys))
  one.start()
  await one.nextCycle()
  await one.api('/api/sets/shop/suspend', { reason: 'a bad night', actor: 'ada' })
  for (const key of keys) await changeInterval(key, 300)
  await one.api('/api/sets/shop/resume', { actor: 'ada' })

  await one.until(() => one.shop().headline === 'SuspectedServerChange')
  expect(new Set(one.shop().services.map(({ reason }) => reason))).toEqual(new Set(['suspectedServerChange']))
  const [approval] = one.shop().approvals
  expect((await one.api(`/api/approve/${approval?.digest}`, { actor: 'ada' }))[0]).toBe(202)
  await one.until(() => one.shop().headline === 'Ready')
  expect(new Set(Object.values(await intervals()))).toEqual(new Set([60]))
})

test('a controller that is stopped while the API does not respond does not wait for it', async () => {
  const api = createServer()
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    api.closeAllConnections()
    api.close()
  })
  // True because a server that listens on TCP has an address with a port.
  const { port } = api.address() as AddressInfo
  const one = await controllerOf({ url: `http://127.0.0.1:${port}` })
  one.repository.commit(manifestFiles('a'))
  one.start()
  await once(api, 'request')
  const startedAtMs = one.clock.nowMs()

  one.controller.stop()
  await expect.poll(() => one.shop().running, { timeout: 20_000 }).toBe(null)

  expect(one.clock.nowMs()).toBe(startedAtMs)
  expect(one.shop().lastRun).toMatchObject({ outcome: 'interrupted' })
  expect(one.events.filter(({ severity }) => severity === 'error')).toEqual([])
})

test('a refused key is reported with the setting of the set', async () => {
  const one = await controllerOf({ apiKey: `pharos_${randomBytes(32).toString('hex')}` })
  one.repository.commit(manifestFiles('a'))
  one.start()

  expect((await one.nextCycle()).conditions[0]?.message).toBe(
    'the API responded with 401: unauthorized: check api.key of the set (or PHAROS_API_KEY), the key may have been revoked',
  )
})

test('an unreachable API is retried soon and reported once, and the set recovers by itself', async () => {
  const proxy = await startFaultProxy(server().url)
  const one = await controllerOf({ url: proxy.url })
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  proxy.refuses = () => true
  one.repository.commit(manifestFiles('b'))
  for (let failures = 1; failures <= 8; failures += 1) {
    const status = await one.nextCycle()
    expect(status.lastRun).toMatchObject({ outcome: 'failed' })
    if (failures === 3) expect(status.lastRun?.trigger).toBe('retry')
  }
  expect(one.shop().headline).toBe('Stalled')
  const raised = one.events.flatMap(({ type, condition }) => (type === 'ConditionRaised' ? [condition] : []))
  expect(raised).toEqual(['Degraded', 'Stalled'])
  proxy.refuses = () => false
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
  expect(await names()).toEqual(['a', 'b'])
  await proxy.close()
})
