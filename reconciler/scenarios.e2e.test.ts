import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import type { Fault } from './testing/faultProxy.ts'
import { serviceManifests } from './testing/manifestArbitrary.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { serviceRequest } from './testing/orgScene.ts'
import { runProgram, startIn } from './testing/pharosProgram.ts'
import { finished } from './testing/processes.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { json, names, services, work } = scene

const FAULTS: readonly Fault[] = ['drop', 'lose', 'bad-gateway', 'internal', 'truncate']

test.each(FAULTS)(
  'Scenario 34: whatever happens to one request (%s), nothing is duplicated and the next run completes the changes',
  async (fault) => {
    work.write({ 'a.yaml': manifestOf('a', '  paused: true\n'), 'b.yaml': manifestOf('b') })
    let faults = 1
    scene.proxy.decide = () => (faults-- > 0 ? fault : 'pass')
    await work.run('apply', '--create-grace', '1ms')
    await scene.proxy.land()
    work.write({ 'a.yaml': manifestOf('a', '  paused: false\n').replace('60s', '90s'), 'b.yaml': null })
    faults = 1
    await work.run('apply', '--create-grace', '1ms')
    await scene.proxy.land()
    expect(await json('apply', '--create-grace', '1ms')).toMatchObject({ exit: 0 })
    const left = (await services()).map((one) => [one.name, one.interval_secs, one.paused_at != null])
    expect(left).toEqual([['a', 90, false]])
    expect(await json('apply')).toMatchObject({ exit: 0, outcomes: [] })
  },
)

test.each([
  [1, 'before'],
  [1, 'after'],
  [2, 'after'],
  [3, 'after'],
  [4, 'after'],
  [5, 'after'],
] as const)(
  'Scenarios 35 and 36: a process killed at request %i (%s its effect) is repaired by the next run',
  async (killAt, when) => {
    work.write({
      'kept.yaml': manifestOf('kept'),
      'changed.yaml': manifestOf('changed', '  paused: false\n'),
      'gone.yaml': manifestOf('gone'),
    })
    await work.run('apply')
    work.write({
      'changed.yaml': manifestOf('changed', '  paused: true\n').replace('60s', '90s'),
      'gone.yaml': null,
      'new.yaml': manifestOf('new', '  paused: true\n'),
    })
    const child = startIn(work, 'apply')
    let seen = 0
    scene.proxy.decide = () => {
      seen += 1
      if (when === 'after' || seen !== killAt) return 'pass'
      child.kill('SIGKILL')
      return 'drop'
    }
    let had = 0
    scene.proxy.afterEffect = () => {
      had += 1
      if (when === 'after' && had === killAt) child.kill('SIGKILL')
    }
    expect((await finished(child)).exitCode).toBeNull()
    scene.proxy.decide = () => 'pass'
    scene.proxy.afterEffect = () => {}
    expect((await work.run('apply', '--create-grace', '1ms')).exitCode).toBe(0)
    expect((await services()).map(({ name, paused_at }) => [name, paused_at != null])).toEqual([
      ['changed', true],
      ['kept', false],
      ['new', true],
    ])
    expect((await json('plan')).changes).toEqual([])
  },
)

test('Scenario 37: when a person created the same service meanwhile, only its manifest waits, and bind resolves it', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  const child = startIn(work, 'apply')
  scene.proxy.decide = (_method, path) => (path === '/v1/services' ? 'lose' : 'pass')
  let made = 0
  scene.proxy.afterEffect = () => {
    made += 1
    if (made === 2) child.kill('SIGKILL')
  }
  await finished(child)
  scene.proxy.decide = () => 'pass'
  scene.proxy.afterEffect = () => {}
  await scene.client.createService(serviceRequest('a'), 'by-hand')

  const applied = await json('apply', '--create-grace', '1ms')
  expect(applied).toMatchObject({ exit: 6, applied: { blocked: 1 } })
  const twins = (await services()).filter(({ name }) => name === 'a')
  expect(applied.outcomes.concat(applied.plan.changes)).toContainEqual(expect.objectContaining({ key: 'a' }))
  expect(twins).toHaveLength(2)
  const bound = await runHere(['bind', 'a', twins[0]?.id ?? '', '--state', work.statePath], work.env)
  expect(bound.exitCode).toBe(0)
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 0 } })
})

test('Scenario 32: two manifests that swap spec.name keep their services', async () => {
  work.write({ 'a.yaml': manifestOf('a', '  name: One\n'), 'b.yaml': manifestOf('b', '  name: Two\n') })
  await work.run('apply')
  const before = new Map((await services()).map(({ id, name }) => [name, id]))
  work.write({ 'a.yaml': manifestOf('a', '  name: Two\n'), 'b.yaml': manifestOf('b', '  name: One\n') })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { updated: 2, created: 0, removed: 0 } })
  const after = new Map((await services()).map(({ id, name }) => [name, id]))
  expect([after.get('One'), after.get('Two')]).toEqual([before.get('Two'), before.get('One')])
})

test('Scenario 30: a manually deleted service is created again, and a manually paused one is resumed only where git requires it', async () => {
  work.write({
    'a.yaml': manifestOf('a'),
    'b.yaml': manifestOf('b'),
    'c.yaml': manifestOf('c', '  paused: false\n'),
  })
  await work.run('apply')
  const [a, b, c] = await services()
  await scene.client.deleteService(a?.id ?? '')
  await scene.client.pauseService(b?.id ?? '')
  await scene.client.pauseService(c?.id ?? '')
  expect(await json('drift')).toMatchObject({
    exit: 2,
    drift: [{ kind: 'deleted' }, { kind: 'changed', key: 'c' }],
  })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1, updated: 1 } })
  expect((await services()).map(({ name, paused_at }) => [name, paused_at != null])).toEqual([
    ['a', false],
    ['b', true],
    ['c', false],
  ])
})

test('Scenario 28: with another state key every secret is sent once, and nothing else changes', async () => {
  work.env.TOKEN = 'canary'
  work.write({
    'a.yaml': manifestOf('a', '      headers: {Authorization: {env: TOKEN}}\n'),
    'b.yaml': manifestOf('b'),
  })
  await work.run('apply')
  rmSync(`${work.statePath}.key`)
  const run = await work.run('apply')
  expect([run.exitCode, run.stderr]).toEqual([
    0,
    expect.stringContaining('every secret counts as changed once'),
  ])
  expect(run.stdout).toContain('1 updated, 1 unchanged')
  expect(await json('apply')).toMatchObject({ exit: 0, requests: 2 })

  work.env.PHAROS_STATE_KEY = 'k'.repeat(32)
  const told = 'PHAROS_STATE_KEY is not the key of this state'
  expect(await work.run('apply')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(told) })
  expect(await work.run('apply')).toMatchObject({ exitCode: 0, stderr: '' })
})

test('Scenario 39: a key that is revoked during a run ends the run, and no operation is left open', async () => {
  work.write(Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`s${i}.yaml`, manifestOf(`s${i}`)])))
  let sent = 0
  scene.proxy.refusesWith = () => {
    sent += 1
    return sent > 3 ? { status: 401, error: 'unauthorized' } : undefined
  }
  const applied = await json('apply')
  expect(applied.exit).toBe(1)
  expect(sent).toBeLessThanOrEqual(3 + 6)
  scene.proxy.refusesWith = () => undefined
  expect(await json('apply', '--create-grace', '1ms')).toMatchObject({ exit: 0 })
  expect(await names()).toHaveLength(8)
})

test('Scenario 33: under repeated 429s every change is made once, after waiting', async () => {
  work.write(Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`s${i}.yaml`, manifestOf(`s${i}`)])))
  let asked = 0
  scene.proxy.refusesWith = () => {
    asked += 1
    return asked % 3 === 0 ? undefined : { status: 429, error: 'rate_limited' }
  }
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 6 } })
  expect(await names()).toHaveLength(6)
})

test('Scenario 43: while a manifest is invalid nothing is removed, and removals continue once it is valid', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b'), 'c.yaml': manifestOf('c') })
  await work.run('apply')
  work.write({ 'a.yaml': null, 'b.yaml': manifestOf('b', '  colour: red\n') })
  expect(await json('apply')).toMatchObject({ exit: 3, applied: { removed: 0 } })
  expect(await names()).toEqual(['a', 'b', 'c'])
  work.write({ 'b.yaml': manifestOf('b') })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 1 } })
})

test('Scenario 41: a digest stays valid until one of its services changes', async () => {
  const all = ['a', 'b', 'c', 'd', 'e']
  work.write(Object.fromEntries(all.map((name) => [`${name}.yaml`, manifestOf(name)])))
  await work.run('apply')
  work.write(Object.fromEntries(all.slice(1).map((name) => [`${name}.yaml`, null])))
  const [first, second] = [await json('plan'), await json('plan')]
  expect(first.approval).toBe(second.approval)
  const e = (await services()).find(({ name }) => name === 'e')
  // The services to be deleted are still edited: nothing that the plan says of them has changed.
  await scene.client.replaceService(e?.id ?? '', serviceRequest('e', 90))
  expect(await json('apply', '--approve', first.approval)).toMatchObject({ exit: 4, applied: { removed: 0 } })
  expect((await names()).length).toBe(5)
})

test('an approval is neither offered nor used up while all changes are blocked by something else', async () => {
  const all = ['a', 'b', 'c', 'd', 'e']
  work.write(Object.fromEntries(all.map((name) => [`${name}.yaml`, manifestOf(name)])))
  await work.run('apply')
  work.write(Object.fromEntries(all.slice(1).map((name) => [`${name}.yaml`, null])))
  const { approval } = await json('plan')
  const state = ['--state', work.statePath] as const
  await runHere(['approve', approval, ...state], work.env)
  await runHere(['suspend', '*', '--reason', 'a migration', ...state], work.env)
  expect((await work.run('plan')).stdout).not.toContain('--approve')
  expect(await json('apply')).toMatchObject({ exit: 4, applied: { removed: 0 } })

  await runHere(['resume', '*', ...state], work.env)
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 4 } })
})

test('Scenario 45: with an unwritable state no write is sent', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  work.write({ 'b.yaml': manifestOf('b') })
  const changes: string[] = []
  scene.proxy.decide = (method, path) => {
    changes.push(`${method} ${path}`)
    return 'pass'
  }
  const database = new Database(work.statePath)
  database.exec('CREATE TRIGGER full BEFORE INSERT ON intent BEGIN SELECT RAISE(FAIL, "disk full"); END')
  database.close()
  const run = await work.run('apply')
  expect([run.exitCode, changes]).toEqual([1, []])
  expect(run.stderr).toContain('nothing is sent')

  writeFileSync(work.statePath, Buffer.alloc(20_000, 'x'))
  expect(await json('apply')).toMatchObject({ exit: 1, error: { code: 'E_STATE' } })
  expect([changes, await names()]).toEqual([[], ['a']])
})

test('Scenario 29: no secret is in a saved plan, an export or the text of a crash', async () => {
  Object.assign(work.env, { TOKEN: 'canary-7731', ONE: 'x' })
  work.write({
    'a.yaml': manifestOf(
      'a',
      '      headers: {Authorization: {env: TOKEN, prefix: "Bearer "}, X-One: {env: ONE}}\n',
    ),
  })
  const outputs: string[] = []
  const keep = async (...args: readonly [string, ...string[]]): Promise<void> => {
    const { stdout, stderr } = await work.run(...args)
    outputs.push(stdout, stderr)
  }
  await keep('plan')
  scene.proxy.decide = () => 'truncate'
  await keep('apply', '--create-grace', '1ms')
  scene.proxy.decide = () => 'pass'
  await keep('apply', '--create-grace', '1ms', '--json')
  await keep('plan', '--json')
  const exported = await runHere(['state', 'export', '--state', work.statePath], work.env)
  outputs.push(exported.stdout)
  const files = readdirSync(work.folder).filter((name) => name !== 'manifests')
  outputs.push(...files.map((name) => readFileSync(join(work.folder, name), 'latin1')))
  const everything = outputs.join('\n')
  for (const form of ['canary-7731', Buffer.from('canary-7731').toString('base64')]) {
    expect(everything).not.toContain(form)
  }
  expect(everything).toContain('example.com')
})

test('Scenario 45: a read-only state file can be used by plan, and apply says why it cannot write it', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  chmodSync(work.statePath, 0o444)
  chmodSync(work.folder, 0o555)
  const someone = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const env = { ...work.env, PHAROS_STATE_KEY: readFileSync(`${work.statePath}.key`, 'utf8').trim() }
  const here = (command: string) =>
    runProgram([command, join(work.folder, 'manifests'), '--state', work.statePath], env, someone)
  expect((await here('plan')).exitCode).toBe(0)
  const applied = await here('apply')
  chmodSync(work.folder, 0o755)
  expect([applied.exitCode, applied.stderr]).toEqual([1, expect.stringContaining('cannot be used')])
})

test('Scenario 51: no format changes the exit code, and each is complete even when a command cannot run', async () => {
  work.write({ 'a.yaml': manifestOf('a', '  colour: red\n'), 'b.yaml': manifestOf('b') })
  const plan = async (format: string, env = work.env) => {
    const run = await runHere(
      ['plan', join(work.folder, 'manifests'), '--state', work.statePath, '--format', format],
      env,
      { cwd: process.cwd() },
    )
    return [run.exitCode, run.stdout] as const
  }
  const keyless = { ...work.env, PHAROS_API_KEY: 'short' }
  const place = `file=${join(work.folder, 'manifests/a.yaml')},line=9,col=3,title=E_UNKNOWN_FIELD`

  expect(await plan('text')).toEqual([7, expect.stringContaining('a.yaml:9:3: [E_UNKNOWN_FIELD]')])
  expect(await plan('github')).toEqual([7, expect.stringContaining(`::error ${place}::spec.colour`)])
  expect(await plan('github', keyless)).toEqual([1, expect.stringMatching(/^::error::.*PHAROS_URL/m)])
  const [code, sarif] = await plan('sarif')
  expect([code, JSON.parse(sarif).runs[0].results]).toMatchObject([
    7,
    [
      { ruleId: 'E_UNKNOWN_FIELD', level: 'error' },
      { ruleId: 'W_NO_ASSERTIONS', level: 'warning' },
    ],
  ])
  const [failed, log] = await plan('sarif', keyless)
  expect([failed, JSON.parse(log).runs[0].invocations]).toMatchObject([
    1,
    [{ executionSuccessful: false, exitCode: 1 }],
  ])
  expect(await plan('markdown')).toEqual([
    7,
    expect.stringMatching(/^### Plan: 1 to create, 0 unchanged, 1 manifest with problems\n\n/),
  ])
  expect(await plan('markdown', keyless)).toEqual([1, expect.stringMatching(/^### There is no plan\n\n```/)])
  expect((await plan('yaml'))[0]).toBe(1)
})

test('Scenario 26: a plan is empty after an apply of random definitions over the whole grammar', async () => {
  await scene.server.overrideLimits({ servicesMax: 100, endpointsMax: 400 }, scene.orgId)
  const samples = fc.sample(serviceManifests, { numRuns: 40, seed: 26 })
  const files = samples.map(({ spec, ...manifest }, index): readonly [string, string] => {
    const regions = ['us-east-1', 'eu-west-1']
    const ours = { interval: '60s', regions, name: `Service ${index}`, paused: index % 3 === 0 }
    const whole = { ...manifest, metadata: { name: `s${index}` }, spec: { ...Object(spec), ...ours } }
    return [`s${index}.yaml`, JSON.stringify(whole)]
  })
  work.write(Object.fromEntries(files))
  const applied = await json('apply')
  // Some name secrets that are not there, and are left out.
  expect(applied.applied).toMatchObject({ failed: 0, blocked: 0 })
  expect(applied.applied.created).toBeGreaterThan(10)
  const plan = await json('plan')
  expect([plan.changes, plan.unchanged.length]).toEqual([[], applied.applied.created])
})
