import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { startFaultProxy } from '../../testing/faultProxy.ts'
import { manifestOf } from '../../testing/manifestOf.ts'
import type { TestController } from '../../testing/testController.ts'

const { controllerOf, server, names, intervals, changeInterval } = controllerScene(startServer)

test('Scenario 17: while the repository is unreadable nothing is written, and the set recovers by itself', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  execFileSync('mv', [one.repository.directory, `${one.repository.directory}.away`])
  await changeInterval('a', 300)

  const away = await one.nextCycle()
  expect(away).toMatchObject({
    headline: 'SourceUnavailable',
    lastRun: { outcome: 'failed' },
    services: [{ key: 'a', state: 'Drifted' }],
  })
  expect(away.conditions.map(({ type }) => type)).not.toContain('Ready')
  await one.nextCycle()
  expect(await intervals()).toEqual({ a: 300 })
  expect(one.events.filter(({ condition }) => condition === 'SourceUnavailable')).toHaveLength(1)

  execFileSync('mv', [`${one.repository.directory}.away`, one.repository.directory])
  await one.until(() => one.shop().headline === 'Ready')
  expect(await intervals()).toEqual({ a: 60 })
})

test('Scenario 17: a deleted branch removes no service', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  one.repository.git('branch', '--move', 'main', 'gone')

  const status = await one.nextCycle()

  expect(status.headline).toBe('SourceUnavailable')
  expect(status.conditions[0]?.message).toContain('has no branch main; its default branch is gone')
  expect(await names()).toEqual(['a'])
})

test('Scenario 18: after a force-push to an older commit updates continue, and nothing is removed until the history is acknowledged', async () => {
  const one = await controllerOf({ more: '    prune: policy\n' })
  const first = one.repository.commit(manifestFiles('a'))
  one.repository.commit(manifestFiles('b'))
  one.start()
  await one.nextCycle()
  one.repository.git('reset', '--quiet', '--hard', first)
  one.repository.commit({ 'monitoring/a.yaml': manifestOf('a').replace('60s', '120s') })

  const rewritten = await one.nextCycle()
  expect(rewritten).toMatchObject({
    headline: 'HistoryRewritten',
    services: [
      { key: 'a', state: 'Synced' },
      { key: 'b', state: 'Pending' },
    ],
  })
  expect(await intervals()).toEqual({ a: 120, b: 60 })
  // A restart does not make it forget.
  expect(await one.nextCycle()).toMatchObject({ headline: 'HistoryRewritten' })

  expect((await one.api('/api/sets/shop/acknowledge-history', { actor: 'ada' }))[0]).toBe(202)
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
  expect(await names()).toEqual(['a'])
  expect((await one.api('/api/sets/shop/acknowledge-history'))[0]).toBe(409)
})

test('Scenario 18: a rewritten history is still reported after a restart', async () => {
  const one = await controllerOf({ more: '    prune: policy\n' })
  const first = one.repository.commit(manifestFiles('a'))
  one.repository.commit(manifestFiles('b'))
  one.start()
  await one.nextCycle()
  one.repository.git('reset', '--quiet', '--hard', first)
  await one.nextCycle()
  one.controller.stop()
  await one.until(() => one.shop().role === 'starting')

  const two = await controllerOf({
    more: '    prune: policy\n',
    repository: one.repository,
    folder: one.folder,
    replica: 'green',
  })
  two.start()

  expect(await two.nextCycle()).toMatchObject({ headline: 'HistoryRewritten' })
  expect(await names()).toEqual(['a', 'b'])
})

test.each([
  ['an empty tree', ['rm', '--quiet', '-r', '.'], 'ManifestsInvalid'],
  ['a path that moved', ['mv', 'monitoring', 'elsewhere'], 'ManifestsInvalid'],
  ['a rename of all files', ['mv', 'monitoring/a.yaml', 'monitoring/a.yaml.bak'], 'ApprovalRequired'],
] as const)('Scenario 19: %s removes nothing', async (_what, change, headline) => {
  const one = await controllerOf({ more: '    prune: policy\n' })
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  one.repository.git(...change)
  one.repository.commit({})

  expect((await one.nextCycle()).headline).toBe(headline)
  await one.nextCycle()
  expect(await names()).toEqual(['a'])
})

test('Scenario 23: five pushes within a second start one run of the newest commit', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const ends = (): number => one.events.filter(({ type }) => type === 'RunFinished').length
  const before = ends()
  let newest = ''
  for (const key of ['b', 'c', 'd', 'e', 'f']) {
    newest = one.repository.commit(manifestFiles(key))
    expect(await one.push()).toBe(202)
    one.clock.advance(200)
  }

  const status = await one.nextCycle()

  expect([status.commit?.sha, ends() - before]).toEqual([newest, 1])
  expect(status.lastRun?.counts).toMatchObject({ created: 5 })
})

test('Scenario 23: a push while a commit is applied takes effect between two operations, and no further change of the old commit is sent', async () => {
  const proxy = await startFaultProxy(server().url)
  const one = await controllerOf({ url: proxy.url })
  const keys = Array.from({ length: 14 }, (_, index) => `s${index}`)
  one.repository.commit(manifestFiles(...keys))
  const sent: string[] = []
  let isSeen: Promise<void> | undefined
  const pushAndWait = async (): Promise<void> => {
    const slower = keys.map((key) => [`monitoring/${key}.yaml`, manifestOf(key).replace('60s', '120s')])
    one.repository.commit(Object.fromEntries(slower))
    await one.push()
    await one.until(() => one.shop().running?.stopReason === 'superseded')
  }
  // Everything that is in flight stays there until the run knows of the push.
  proxy.decide = async (method) => {
    sent.push(method)
    isSeen ??= pushAndWait()
    await isSeen
    return 'pass' as const
  }
  one.start()

  await one.until(() => one.shop().headline === 'Ready')

  const inFlight = sent.filter((method) => method === 'PATCH').length
  expect(sent.filter((method) => method === 'POST')).toHaveLength(keys.length)
  expect(inFlight).toBeGreaterThan(0)
  expect(inFlight).toBeLessThanOrEqual(6)
  expect(new Set(Object.values(await intervals()))).toEqual(new Set([120]))
  expect(one.shop().lastRun).toMatchObject({ trigger: 'preempted', outcome: 'converged' })
  await proxy.close()
})

/** Has commits signed with a key of Ada's: the file of allowed signers, and what signs the newest commit again. */
function signing({ folder, repository }: TestController): { signers: string; sign: () => string } {
  const key = join(folder, 'ada')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada', '-f', key])
  const signers = join(folder, 'signers')
  writeFileSync(signers, `ada@example.com ${readFileSync(`${key}.pub`, 'utf8')}`)
  const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`]
  return {
    signers,
    sign: () => {
      repository.git(...settings, 'commit', '--quiet', '--amend', '--no-edit', '-S')
      return repository.git('rev-parse', 'HEAD')
    },
  }
}

test('Scenario 24: a commit without the signature of an allowed key is not applied, and the last signed commit remains in force', async () => {
  const probe = await controllerOf()
  const { signers, sign } = signing(probe)
  const { repository } = probe
  const one = await controllerOf({ repository, signers })
  repository.commit(manifestFiles('a'))
  const signed = sign()
  one.start()
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready', commit: { sha: signed } })

  repository.commit(manifestFiles('b'))
  await changeInterval('a', 300)
  expect(await one.nextCycle()).toMatchObject({ headline: 'CommitRefused', commit: { sha: signed } })
  expect(await intervals()).toEqual({ a: 60 })
  const raised = one.events.filter(({ condition }) => condition === 'CommitRefused')
  expect(raised.map(({ type, severity }) => [type, severity])).toEqual([['ConditionRaised', 'error']])

  sign()
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
  expect(await names()).toEqual(['a', 'b'])
})

test('a run does not yield to a newer commit that is refused', async () => {
  const proxy = await startFaultProxy(server().url)
  const probe = await controllerOf()
  const { signers, sign } = signing(probe)
  const { repository } = probe
  const one = await controllerOf({ url: proxy.url, repository, signers, more: '    interval: 24h\n' })
  const keys = Array.from({ length: 9 }, (_, index) => `s${index}`)
  repository.commit(manifestFiles(...keys))
  sign()
  one.start()
  await one.nextCycle()
  repository.commit(manifestFiles('unsigned'))
  for (const key of keys) await changeInterval(key, 300)
  const fetches = async (): Promise<number> => {
    const text = await (await fetch(`${one.controller.url}/metrics`)).text()
    return Number(/^pharos_git_fetch_seconds_count\{.*"ok".*\} (\d+)$/m.exec(text)?.[1])
  }
  let looked: Promise<void> | undefined
  const lookedAgain = async (): Promise<void> => {
    const before = await fetches()
    await one.push()
    while ((await fetches()) === before) await immediate()
  }
  // The changes in flight stay there until the branch was looked at beside the run.
  proxy.decide = async () => {
    looked ??= lookedAgain()
    await looked
    return 'pass' as const
  }

  await one.push()
  await one.until(() => one.shop().lastRun?.counts.updated === 9, 20 * 60_000)

  expect(one.shop()).toMatchObject({ headline: 'CommitRefused', lastRun: { outcome: 'partial' } })
  expect(one.events.filter(({ message }) => message.startsWith('superseded'))).toEqual([])
  await proxy.close()
})
