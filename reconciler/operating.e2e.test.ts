import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { makeBareRepository } from './git/bareRepository.ts'
import { openStore } from './state/openStore.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { serviceRequest } from './testing/orgScene.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { changeInterval, intervals, json, names, services, work } = scene

/** A command that works on the state alone. */
async function onState(...args: readonly string[]) {
  const run = await runHere([...args, '--state', work.statePath, '--json'], work.env)
  return { ...JSON.parse(run.stdout), exit: run.exitCode }
}

test('a stored approval releases the blocked changes of the next apply, once', async () => {
  const all = ['a', 'b', 'c', 'd', 'e']
  work.write(Object.fromEntries(all.map((name) => [`${name}.yaml`, manifestOf(name)])))
  await work.run('apply')
  work.write(Object.fromEntries(all.slice(1).map((name) => [`${name}.yaml`, null])))
  const { approval } = await json('plan')

  expect(await onState('approve', 'nonsense')).toMatchObject({ exit: 1, error: { code: 'E_USAGE' } })
  await onState('approve', approval, '--actor', 'ada')
  expect((await onState('status')).approvals).toMatchObject([{ digest: approval, actor: 'ada' }])
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 4 } })
  expect(await names()).toEqual(['a'])
  expect((await onState('status')).approvals).toEqual([])
})

test('suspended services are not changed until they are resumed, and a suspension ends at its time', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  expect((await onState('suspend', 'a', '--reason', 'no state yet')).exit).toBe(1)
  await work.run('apply')
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s'), 'b.yaml': null })

  expect((await onState('suspend', '*')).error.message).toContain('--reason is needed')
  const endless = await onState('suspend', 'b', '--reason', 'a migration', '--for', '9999999999h')
  expect(endless).toMatchObject({ exit: 1, error: { code: 'E_USAGE' } })
  await onState('suspend', 'b', '--reason', 'a migration', '--actor', 'ada')
  await onState('suspend', 'a', '--reason', 'over at once', '--for', '1ns')
  const held = await json('apply')
  expect(held).toMatchObject({ exit: 4, applied: { updated: 1, removed: 0, withheld: 1 } })
  expect(held.plan.brakes).toMatchObject([
    { brake: 'suspended', keys: ['b'], message: 'ada suspended b: a migration' },
  ])
  await onState('resume', 'b')
  expect((await onState('resume', 'b')).exit).toBe(1)
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 1 } })
})

test('mv moves a service from one manifest to another', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'c.yaml': manifestOf('c') })
  await work.run('apply')
  const before = await scene.client.listServices()

  expect((await onState('mv', 'a', 'c')).error.message).toContain('c has service')
  expect((await onState('mv', 'x', 'y')).exit).toBe(1)
  expect((await onState('mv', 'a', 'A b')).error.message).toContain('no manifest can be named "A b"')
  const moved = await runHere(['mv', 'a', 'b', '--state', work.statePath], work.env)
  expect([moved.exitCode, moved.stderr]).toEqual([
    0,
    'make sure that a manifest is named b: without one the next apply removes the service\n',
  ])
  work.write({ 'a.yaml': null, 'b.yaml': manifestOf('b').replace('60s', '90s') })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { updated: 1, created: 0, removed: 0 } })
  const after = await scene.client.listServices()
  expect(after.services.map(({ id }) => id).sort()).toEqual(before.services.map(({ id }) => id).sort())
})

test('history shows one run with its trigger and outcome', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const { runId } = await json('apply')
  const shown = await onState('show', runId.slice(0, 8))
  expect(shown.run).toMatchObject({ runId, trigger: 'command', outcome: 'done', counts: { created: 1 } })
  expect(await onState('show', 'nothing')).toMatchObject({ exit: 1, error: { code: 'E_USAGE' } })
})

test('history keeps the name of a removed service', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await work.run('apply')
  const { services } = await scene.client.listServices()
  const id = services.find(({ name }) => name === 'b')?.id
  work.write({ 'b.yaml': null })
  const { runId } = await json('apply')
  expect((await onState('show', runId)).events).toMatchObject([
    { type: 'Removed', key: 'b', severity: 'info', message: `service ${id} was deleted` },
  ])
})

test('a run waits for the state lock as long as --lock-timeout says', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  const other = await openStore(work.statePath, {})
  await other.acquire('a controller')

  expect(await json('apply')).toMatchObject({ exit: 5, error: { code: 'E_STATE' } })
  expect((await onState('status')).lease).toMatchObject({ holder: 'a controller' })
  const patient = json('apply', '--lock-timeout', '1m')
  await other.close()
  expect(await patient).toMatchObject({ exit: 0, applied: { unchanged: 1 } })
})

test('Scenario 50: a state is exported and imported into a state in git, and plans with both are the same', async () => {
  work.env.PHAROS_STATE_KEY = 'k'.repeat(32)
  work.env.TOKEN = 'canary'
  work.write({ 'a.yaml': manifestOf('a', '      headers: {Authorization: {env: TOKEN}}\n') })
  await work.run('apply')
  const file = join(work.folder, 'backup.json')
  expect((await onState('state', 'export', file)).exit).toBe(0)
  expect(readFileSync(file, 'utf8')).not.toContain('canary')

  const repository = join(work.folder, 'state.git')
  makeBareRepository(repository)
  const elsewhere = `git:${repository}#refs/pharos/production`
  const there = (...args: readonly string[]) => runHere([...args, '--state', elsewhere, '--json'], work.env)
  expect((await there('state', 'import', file)).exitCode).toBe(0)
  expect((await there('state', 'import', file)).exitCode).toBe(1)
  const plan = await there('plan', join(work.folder, 'manifests'))
  expect(JSON.parse(plan.stdout)).toMatchObject({ exitCode: 0, changes: [], unchanged: ['a'] })
  const exported = await there('state', 'export')
  expect(JSON.parse(exported.stdout).state).toEqual(JSON.parse(readFileSync(file, 'utf8')))
})

test('Scenario 50: after the restore of an old backup unknown services are reported, and not removed', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'gone.yaml': manifestOf('gone') })
  await work.run('apply')
  const file = join(work.folder, 'backup.json')
  await onState('state', 'export', file)
  work.write({ 'gone.yaml': null, 'b.yaml': manifestOf('b') })
  await work.run('apply')
  rmSync(work.statePath)
  await onState('state', 'import', file)

  const verified = await onState('state', 'verify')
  expect(verified).toMatchObject({ exit: 6, bound: 1, gone: [{ key: 'gone' }], unmanaged: [{ name: 'b' }] })
  const applied = await json('apply')
  expect(applied).toMatchObject({ exit: 6, applied: { removed: 1, created: 0, blocked: 1 } })
  expect(applied.outcomes).toMatchObject([{ kind: 'prune', key: 'gone', how: 'forget' }])
  expect(await names()).toEqual(['a', 'b'])
})

test('Scenario 50: without its state nothing is removed or duplicated, and adopt finds the matching services', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await work.run('apply')
  rmSync(work.statePath)
  expect(await json('apply')).toMatchObject({ exit: 6, applied: { created: 0, removed: 0, blocked: 2 } })
  expect(await json('adopt plan')).toMatchObject({
    adoptions: [{ kind: 'match' }, { kind: 'match' }],
  })
  await work.run('adopt apply')
  expect(await json('apply')).toMatchObject({ exit: 0, requests: 2, applied: { unchanged: 2 } })
  expect(await names()).toEqual(['a', 'b'])
})

test('Scenario 55: adopt writes ids into manifests and keeps comments and everything else, and no state is needed after it', async () => {
  const commented = `# Who pays\n${manifestOf('a').replace('\n  interval: 60s', '   # odd blanks\n\n  interval:   60s  # often')}`
  const crlf = manifestOf('b').replaceAll('\n', '\r\n').replace('{name: b}', '\r\n  name: b # shop')
  const odd = manifestOf('c').replace('{name: c}', '\n  ? name\n  : c')
  work.write({ 'a.yaml': commented, 'b.yaml': crlf, 'c.yaml': odd })
  await work.run('apply')
  const idOf = Object.fromEntries(
    (await scene.client.listServices()).services.map(({ name, id }) => [name, id]),
  )
  const manifests = join(work.folder, 'manifests')
  const adopt = async (action: string, ...args: readonly string[]) => {
    const run = await runHere(['adopt', action, manifests, '--write-ids', '--json', ...args], work.env)
    return { ...JSON.parse(run.stdout), exit: run.exitCode }
  }
  const text = (name: string) => readFileSync(join(manifests, name), 'utf8')

  expect((await adopt('apply', '--env', 'production')).error.message).toContain(
    'applies to every environment',
  )
  expect((await adopt('plan')).adoptions).toHaveLength(3)
  expect([text('a.yaml'), text('b.yaml')]).toEqual([commented, crlf])
  expect(await adopt('apply')).toMatchObject({
    exit: 6,
    ids: [
      { key: 'a', id: idOf.a, isWritten: true },
      { key: 'b', id: idOf.b, isWritten: true },
      { key: 'c', id: idOf.c, isWritten: false },
    ],
  })
  expect(text('a.yaml')).toBe(commented.replace('{name: a}', `{name: a, id: ${idOf.a}}`))
  expect(text('b.yaml')).toBe(crlf.replace('# shop\r\n', `# shop\r\n  id: ${idOf.b}\r\n`))
  expect(text('c.yaml')).toBe(odd)
  work.write({ 'c.yaml': manifestOf('c') })
  // What the state knows already is written as well.
  expect(await adopt('apply', '--state', work.statePath)).toMatchObject({
    exit: 0,
    adoptions: [],
    ids: [{ key: 'c' }],
  })
  const plan = await runHere(['plan', manifests, '--json'], work.env)
  expect(JSON.parse(plan.stdout)).toMatchObject({ exitCode: 0, changes: [], unchanged: ['a', 'b', 'c'] })
})

test('Scenario 45: a state file that is damaged in the middle is reported as such, and nothing is sent', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  const bytes = readFileSync(work.statePath)
  writeFileSync(work.statePath, bytes.fill('x', 4_096))
  for (const command of ['plan', 'apply']) {
    expect(await json(command)).toMatchObject({
      exit: 1,
      error: { code: 'E_STATE', message: expect.stringContaining('cannot be used: ') },
    })
  }
  expect(await names()).toEqual(['a'])
})

test.each([
  ['no JSON', '{', 'is not a state of pharos'],
  ['a newer one', '{"version": 99}', 'was written by a newer pharos'],
  ['one from before the first release', '{"version": 1}', 'before the first release'],
  ['another document', '{"version": 2}', 'is not a state of pharos'],
])('an import of %s is refused', async (_what, text, message) => {
  const file = join(work.folder, 'backup.json')
  writeFileSync(file, text)
  const run = await onState('state', 'import', file)
  expect([run.exit, run.error.message]).toEqual([1, expect.stringContaining(message)])
})

test('Scenario 44: an apply of a reviewed plan applies exactly that plan, or nothing', async () => {
  work.env.TOKEN = 'canary-in-plan'
  const secret = '      headers: {Authorization: {env: TOKEN}}\n'
  const all = ['a', 'b', 'c']
  const withInterval = (interval: string, names = all): void =>
    work.write(
      Object.fromEntries(
        names.map((name) => [`${name}.yaml`, manifestOf(name, secret).replace('60s', interval)]),
      ),
    )
  const stale = { exit: 6, error: { code: 'E_PLAN_STALE' } }

  // A plan may be older than the state.
  withInterval('60s')
  const { digest: first } = await json('plan')
  expect(first).toMatch(/^[0-9a-f]{32}$/)
  expect(await json('apply', '--plan', first)).toMatchObject({ exit: 0, applied: { created: 3 } })
  expect(await json('apply', '--plan', first)).toMatchObject(stale)

  withInterval('90s')
  const { digest } = await json('plan')
  const reverts: readonly [() => unknown, () => unknown][] = [
    [() => changeInterval('b', 300), () => changeInterval('b', 60)],
    [() => withInterval('120s', ['c']), () => withInterval('90s', ['c'])],
    [() => work.write({ 'd.yaml': manifestOf('d') }), () => work.write({ 'd.yaml': null })],
    [
      () => Object.assign(work.env, { TOKEN: 'rotated' }),
      () => Object.assign(work.env, { TOKEN: 'canary-in-plan' }),
    ],
  ]
  for (const [change, revert] of reverts) {
    await change()
    const refused = await json('apply', '--plan', digest)
    expect(refused, String(change)).toMatchObject(stale)
    expect(refused.error.message).toContain((await json('plan')).digest)
    await revert()
  }
  expect(await intervals()).toEqual({ a: 60, b: 60, c: 60 })
  const { digest: now } = await json('plan')
  expect(await json('apply', '--plan', now)).toMatchObject({ exit: 0, applied: { updated: 3 } })
})

test('Scenario 44: the digest of a reviewed plan covers its policies and blocked changes, and can be combined with an approval', async () => {
  const all = ['a', 'b', 'c', 'd', 'e']
  work.write(Object.fromEntries(all.map((name) => [`${name}.yaml`, manifestOf(name)])))
  await json('apply')
  work.write({
    ...Object.fromEntries(all.map((name) => [`${name}.yaml`, null])),
    'a.yaml': manifestOf('a').replace('60s', '90s'),
  })
  const { digest, approval } = await json('plan')

  expect(await json('apply', '--plan', digest, '--max-deletes', '100%')).toMatchObject({ exit: 6 })
  work.write({ 'a.yaml': `${manifestOf('a').replace('60s', '90s')}policy: {onDelete: detach}\n` })
  expect(await json('apply', '--plan', digest)).toMatchObject({ exit: 6 })
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s') })
  expect(await json('apply', '--plan', digest, '--approve', approval)).toMatchObject({
    exit: 0,
    applied: { updated: 1, removed: 4 },
  })
})

test('Scenario 44: a plan without secrets has the digest of an apply that finds them unchanged', async () => {
  work.env.TOKEN = 'canary-in-plan'
  const secret = '      headers: {Authorization: {env: TOKEN}}\n'
  work.write({ 'a.yaml': manifestOf('a', secret) })
  await json('apply')
  work.write({ 'a.yaml': manifestOf('a', secret).replace('60s', '90s') })
  delete work.env.TOKEN
  const { digest } = await json('plan', '--without-secrets')
  work.write({ 'b.yaml': manifestOf('b', secret) })
  const { stdout } = await work.run('plan', '--without-secrets')

  expect(stdout).toContain('Digest: none, because a change needs a secret that is not available here')
  work.write({ 'b.yaml': null })
  work.env.TOKEN = 'rotated'
  expect(await json('apply', '--plan', digest)).toMatchObject({ exit: 6 })
  work.env.TOKEN = 'canary-in-plan'
  expect(await json('apply', '--plan', digest)).toMatchObject({ exit: 0, applied: { updated: 1 } })
})

test.each([
  [['apply', '--allow-sops'], 'start it with "sops exec-env FILE"'],
  [['apply', '--allow-exec', 'vault-get'], 'into a variable ({ env: NAME }) or a file ({ file: PATH })'],
  [['plan', '--out', 'plan.json'], 'saved plan files were removed'],
  [['apply', '--plan', 'plan.json'], 'saved plan files were removed'],
  [['apply', '--strict'], 'always applies the reviewed plan completely or not at all'],
] as const)('%j names what replaces the option', async ([command, ...args], replacement) => {
  work.write({ 'a.yaml': manifestOf('a') })

  expect(await json(command, ...args)).toMatchObject({
    exit: 1,
    error: { code: 'E_USAGE', message: expect.stringContaining(replacement) },
  })
})

test.each([
  [['rollback', 'manifests', '--to', 'HEAD'], 'revert the commit in git'],
  [['rebaseline', '--pointers', '/regions'], '"pharos approve --pointers"'],
] as const)('%j names what replaces the command', async (args, replacement) => {
  const { exitCode, stdout, stderr } = await runHere([...args, '--json'], work.env)

  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(replacement)])
  expect(JSON.parse(stdout).error).toEqual({ code: 'E_USAGE', message: expect.stringContaining(replacement) })
})

test('former spellings of the state commands still work, and are not shown', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await json('apply')
  const state = ['--state', work.statePath, '--json']
  const [now, before, help] = await Promise.all([
    runHere(['state', 'status', ...state], work.env),
    runHere(['status', ...state], work.env),
    runHere(['--help'], work.env),
  ])

  expect(JSON.parse(before.stdout)).toEqual({ ...JSON.parse(now.stdout), command: 'status' })
  expect(help.stdout).not.toMatch(/^ {2}(?:status|adopt|bind)\b/m)
})

test('every plan format shows the digest', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const { digest } = await json('plan')

  for (const format of ['text', 'json', 'github', 'sarif', 'markdown'])
    expect((await work.run('plan', '--format', format)).stdout, format).toContain(digest)
})

test('Scenario 40: several keys of one organisation work together, and keys of different organisations are refused', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const { orgId } = scene
  const foreign = await scene.server.createKey({ orgId: await scene.server.createOrg() })
  work.env.PHAROS_API_KEYS = `${work.env.PHAROS_API_KEY}, ${foreign}`
  expect(await json('apply')).toMatchObject({ exit: 1, error: { code: 'E_ORG_MISMATCH' } })
  expect(await names()).toEqual([])
  work.env.PHAROS_API_KEYS = `pharos_${'a1'.repeat(32)}`
  expect(await json('apply')).toMatchObject({
    error: { message: expect.stringContaining('check PHAROS_API_KEYS, the key may have been revoked') },
  })
  work.env.PHAROS_API_KEYS = `${work.env.PHAROS_API_KEY},${await scene.server.createKey({ orgId })}`
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1 } })
})

test('--rate slows requests down, and cannot exceed the rate limit of the API', async () => {
  work.write({ 'a.yaml': manifestOf('a') })

  for (const rate of ['0', '5.1', 'fast']) {
    expect(await json('plan', '--rate', rate)).toMatchObject({
      exit: 1,
      error: { message: expect.stringContaining('--rate must be from 0.1 to 5 requests a second') },
    })
  }
  expect(await json('apply', '--rate', '5')).toMatchObject({ exit: 0, applied: { created: 1 } })
  // The second request of a plan has its turn ten seconds after the first one.
  expect(await json('plan', '--rate', '0.1', '--timeout', '1s')).toMatchObject({
    exit: 1,
    error: { code: 'E_TIMEOUT' },
  })
})

test('Scenario 31: the same change of many services is reported as a suspected server change, and its reversal can be approved', async () => {
  await scene.server.overrideLimits({ servicesMax: 50 }, scene.orgId)
  const all = Array.from({ length: 11 }, (_, index) => `s${index}`)
  work.write(Object.fromEntries(all.map((name) => [`${name}.yaml`, manifestOf(name)])))
  await json('apply')
  for (const name of all) await changeInterval(name, 120)

  const plan = await json('plan')
  expect(plan).toMatchObject({ exit: 4, changes: [] })
  expect(plan.brakes).toContainEqual(
    expect.objectContaining({
      brake: 'suspectedServerChange',
      message: expect.stringContaining('/interval_secs'),
    }),
  )
  expect(await json('apply')).toMatchObject({ exit: 4, applied: { updated: 0, withheld: 11 } })
  expect((await onState('approve')).exit).toBe(1)
  expect(await onState('approve', '--pointers', '/regions')).toMatchObject({ taken: [], left: all.sort() })
  const [first] = await services()
  await scene.client.replaceService(first?.id ?? '', {
    ...serviceRequest(first?.name ?? '', 120),
    regions: ['us-east-1'],
  })
  expect(await onState('approve', '--pointers', '/interval_secs')).toMatchObject({
    taken: all.sort(),
    left: [first?.name],
  })
  expect(await json('plan')).toMatchObject({
    exit: 0,
    changes: [{ kind: 'update', key: first?.name, fields: [{ pointer: '/regions', reason: 'drift' }] }],
  })
})

test('Scenario 31: a field that another writer changes each time is reverted three times, then kept and reported', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await json('apply')
  for (let times = 1; times <= 3; times += 1) {
    await changeInterval('a', 300)
    expect(await json('apply')).toMatchObject({ exit: 0, applied: { updated: 1 } })
  }
  await changeInterval('a', 300)
  const { runId, plan } = await json('apply')
  expect(plan.changes).toMatchObject([{ kind: 'drifted', key: 'a', looping: ['/interval_secs'] }])
  expect(await intervals()).toEqual({ a: 300 })
  const { events } = await onState('show', runId)
  expect(events).toMatchObject([{ type: 'HealLoop', key: 'a' }])
  expect((await json('drift')).exit).toBe(2)
})

test('Scenario 27: an ignored field keeps its current value when a new definition is sent', async () => {
  const ignoring = `${manifestOf('a')}policy: {ignore: [/spec/interval]}\n`
  work.write({ 'a.yaml': ignoring })
  await json('apply')
  await changeInterval('a', 300)
  expect(await json('plan')).toMatchObject({ exit: 0, changes: [] })
  work.write({ 'a.yaml': ignoring.replace('a.example.com', 'b.example.com') })
  expect(await json('apply')).toMatchObject({
    exit: 0,
    applied: { updated: 1 },
    outcomes: [{ kind: 'update' }],
  })
  const [service] = (await scene.client.listServices()).services
  expect([service?.interval_secs, service?.endpoints[0]?.url]).toEqual([300, 'https://b.example.com/'])
  expect(await json('plan')).toMatchObject({ exit: 0, changes: [] })

  const secret = manifestOf('a', '      headers: {Authorization: {env: TOKEN}}\n')
  work.write({ 'a.yaml': `${secret}policy: {ignore: [/spec/endpoints/0]}\n` })
  const validated = await runHere(['validate', join(work.folder, 'manifests')], work.env)
  expect([validated.exitCode, validated.stdout]).toEqual([7, expect.stringContaining('covers a secret')])
})

test('Scenario 42: a service whose manifest is removed is paused, resumed with its manifest, and deleted when its time is over', async () => {
  const kept = `${manifestOf('a')}policy: {onDelete: pause, pruneAfter: 24h}\n`
  work.write({ 'a.yaml': kept, 'b.yaml': manifestOf('b') })
  await json('apply')
  const paused = async () => {
    const { services } = await scene.client.listServices()
    return Object.fromEntries(services.map(({ name, paused_at }) => [name, paused_at != null]))
  }
  work.write({ 'a.yaml': null })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 1 } })
  expect([await json('apply'), await paused()]).toMatchObject([
    { exit: 0, outcomes: [] },
    { a: true, b: false },
  ])
  work.write({ 'a.yaml': kept })
  expect([await json('apply'), await paused()]).toMatchObject([{ exit: 0 }, { a: false, b: false }])

  work.write({ 'a.yaml': kept.replace('24h', '0s') })
  await json('apply')
  work.write({ 'a.yaml': null })
  await json('apply')
  expect(await paused()).toEqual({ a: true, b: false })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 1 } })
  expect(await paused()).toEqual({ b: false })
})
