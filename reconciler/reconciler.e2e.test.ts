import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import type { Fault } from './testing/faultProxy.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { serviceRequest } from './testing/orgScene.ts'
import { runProgram, startIn, startProgram } from './testing/pharosProgram.ts'
import { finished } from './testing/processes.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { changeInterval, json, names, services, work } = scene

test('the example is applied, a second apply changes nothing, and an empty apply takes two requests', async () => {
  cpSync(join(import.meta.dirname, '../examples/gitops'), join(work.folder, 'manifests'), {
    recursive: true,
  })
  work.env.SHOP_PROBE_TOKEN = 'canary-token'

  const first = await json('apply')
  expect(first).toMatchObject({ exit: 0, applied: { created: 4 } })
  expect((await services()).map((service) => [service.name, service.paused_at != null])).toEqual([
    ['Catalogue API', false],
    ['Checkout API', false],
    ['Newsletter', true],
    ['Website', false],
  ])
  for (const command of ['apply', 'plan', 'drift'])
    expect(await json(command)).toMatchObject({ exit: 0, requests: 2 })
  const text = await work.run('apply')
  expect(text).toEqual({ exitCode: 0, stderr: '', stdout: 'Nothing to do: 4 unchanged (2 API requests)\n' })
  expect(readFileSync(work.statePath).includes('canary-token')).toBe(false)
})

test('manual changes since the last apply are found with exit code 2 and reverted', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  const [before] = await services()
  await changeInterval('a', 300)

  const drift = await work.run('drift')
  expect([drift.exitCode, drift.stdout]).toEqual([
    2,
    `  ! a: service ${before!.id} was changed\n      interval: 1m → 5m\nDrift: 1 service of 1\n`,
  ])
  expect((await work.run('plan')).exitCode).toBe(0)
  expect((await work.run('plan', '--detailed-exitcode')).exitCode).toBe(2)
  expect((await work.run('apply')).exitCode).toBe(0)
  expect((await services())[0]?.interval_secs).toBe(60)
  expect((await work.run('drift')).exitCode).toBe(0)
})

test('a regular expression that the API would refuse is found by validate', async () => {
  work.write({ 'a.yaml': manifestOf('a', '      assertions: [{body: {regex: "("}}]\n') })
  const { exitCode, stdout } = await runHere(['validate', join(work.folder, 'manifests')])
  expect([exitCode, stdout]).toEqual([
    7,
    expect.stringContaining('[E_VALUE] spec.endpoints[0].assertions[0].body.regex'),
  ])
})

test('validate refuses a folder without a manifest, so that a wrong path does not pass a pipeline', async () => {
  const folder = join(work.folder, 'manifests')

  const { exitCode, stderr } = await runHere(['validate', folder])

  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`there is no manifest at ${folder}`)])
})

test('an unknown region blocks its service before any request', async () => {
  work.write({ 'a.yaml': manifestOf('a').replace('eu-west-1', 'eu-wst-1'), 'b.yaml': manifestOf('b') })
  const blocked = { key: 'a', message: 'there is no region eu-wst-1', hint: 'did you mean eu-west-1?' }

  expect(await json('plan')).toMatchObject({ exit: 3, changes: [{ key: 'b' }, blocked], requests: 3 })
  expect(await json('apply')).toMatchObject({ exit: 3, applied: { created: 1, blocked: 1 } })
  expect(await json('drift')).toMatchObject({ exit: 0, requests: 2 })
})

test('an unreadable list of regions is a warning', async () => {
  scene.proxy.refuses = (path) => path === '/v1/regions'
  work.write({ 'a.yaml': manifestOf('a') })

  const run = await work.run('apply')

  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('the regions could not be read')])
  expect(await names()).toEqual(['a'])
})

test('the state of one folder is not used for another folder without approval', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  const other = join(work.folder, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'b.yaml'), manifestOf('b'))
  const there = async (...args: readonly string[]) => {
    const run = await runHere([...args, other, '--state', work.statePath, '--json'], work.env)
    return JSON.parse(run.stdout)
  }

  const plan = await there('plan')

  expect(plan).toMatchObject({
    exitCode: 6,
    changes: [],
    brakes: [{ brake: 'otherSource', keys: ['b', 'a'] }],
  })
  expect(plan.brakes[0].message).toContain('last applied from "manifests"')
  expect(await there('apply')).toMatchObject({ exitCode: 6, applied: { created: 0, removed: 0 } })
  expect(await names()).toEqual(['a'])
  expect(await there('apply', '--approve', plan.approval)).toMatchObject({ exitCode: 0 })
  expect(await names()).toEqual(['b'])
  expect(await there('plan')).toMatchObject({ exitCode: 0, changes: [] })
})

test('the state of one environment is not used for another without approval', async () => {
  const environment = (name: string, interval: string) =>
    `apiVersion: pharos/v1\nkind: Environment\nmetadata: {name: ${name}}\nspec: {vars: {interval: ${interval}}}\n`
  work.write({
    'a.yaml': manifestOf('a').replace('60s', `"\${var.interval}"`),
    'production.yaml': environment('production', '30s'),
    'staging.yaml': environment('staging', '5m'),
  })
  const intervals = async () => (await services()).map(({ interval_secs }) => interval_secs)
  expect((await work.run('apply', '--env', 'production')).exitCode).toBe(0)
  expect(await json('plan', '--env', 'production')).toMatchObject({ exitCode: 0, changes: [] })

  const plan = await json('plan', '--env', 'staging')

  expect(plan).toMatchObject({ exitCode: 6, changes: [], brakes: [{ brake: 'otherSource', keys: ['a'] }] })
  expect(plan.brakes[0].message).toContain('last applied with --env production, and this is --env staging')
  expect((await work.run('apply', '--env', 'staging')).exitCode).toBe(6)
  expect(await intervals()).toEqual([30])
  expect((await work.run('apply', '--env', 'staging', '--approve', plan.approval)).exitCode).toBe(0)
  expect(await intervals()).toEqual([300])
  expect((await work.run('plan', '--env', 'production')).exitCode).toBe(6)
})

test('a removed manifest removes its service, and a renamed one does not', async () => {
  work.write({ 'a.yaml': manifestOf('a', '  name: A\n'), 'b.yaml': manifestOf('b', '  name: B\n') })
  await work.run('apply')
  const before = await services()
  work.write({
    'a.yaml': null,
    'b.yaml': null,
    'new.yaml': manifestOf('b', '  name: B\n').replace('{name: b}', '{name: c}'),
  })

  expect(await json('apply')).toMatchObject({ exit: 0, applied: { removed: 1, remembered: 1 }, requests: 3 })
  expect((await services()).map((service) => service.id)).toEqual([before[1]!.id])
})

test('with --json each outcome names its service', async () => {
  const outcomes = async () => {
    const { outcomes: list } = await json('apply')
    return list.sort((one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1))
  }
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  const created = await outcomes()
  const [a, b] = await services()
  expect(created).toMatchObject([
    { kind: 'create', key: 'a', serviceId: a!.id, result: 'done' },
    { kind: 'create', key: 'b', serviceId: b!.id, result: 'done' },
  ])

  work.write({ 'a.yaml': manifestOf('a', '      name: home\n'), 'b.yaml': null })
  expect(await outcomes()).toMatchObject([
    { kind: 'update', serviceId: a!.id },
    { kind: 'prune', serviceId: b!.id },
  ])
})

test('Scenario 1: an invalid manifest does not stop the others, and its service is kept', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await work.run('apply')
  work.write({
    'a.yaml': null,
    'b.yaml': manifestOf('b', '  colour: red\n'),
    'c.yaml': manifestOf('c'),
  })

  const validated = await runHere(['validate', join(work.folder, 'manifests')])
  expect([validated.exitCode, validated.stdout]).toEqual([
    7,
    expect.stringContaining('b.yaml:9:3: [E_UNKNOWN_FIELD]'),
  ])
  expect((await json('plan')).exit).toBe(7)
  const applied = await json('apply')
  expect(applied).toMatchObject({ exit: 3, applied: { created: 1, withheld: 1 } })
  expect(applied.plan.brakes).toMatchObject([{ brake: 'invalidSource', keys: ['a'] }])
  expect(await names()).toEqual(['a', 'b', 'c'])
})

test('Scenario 41: more deletions than the safety limit need the digest that the plan shows', async () => {
  const all = ['a', 'b', 'c', 'd', 'e']
  work.write(Object.fromEntries(all.map((name) => [`${name}.yaml`, manifestOf(name)])))
  await work.run('apply')
  work.write(Object.fromEntries(all.slice(1).map((name) => [`${name}.yaml`, null])))
  const { approval, exit } = await json('plan')
  expect(exit).toBe(4)

  expect(await json('apply', '--approve', 'ffffffffffffffff')).toMatchObject({
    exit: 4,
    applied: { removed: 0 },
  })
  expect(await names()).toEqual(all)
  expect(await json('apply', '--approve', approval)).toMatchObject({ exit: 0, applied: { removed: 4 } })
  expect(await names()).toEqual(['a'])
})

test('Scenario 40: a key of another organisation stops the run before the comparison', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  work.env.PHAROS_API_KEY = await scene.server.createKey({
    orgId: await scene.server.createOrg({ plan: 'business' }),
  })

  for (const command of ['plan', 'drift', 'apply']) {
    expect(await json(command)).toMatchObject({ exit: 1, error: { code: 'E_ORG_MISMATCH' } })
  }
})

test('Scenario 39: a read-only key can plan and find drift, and an apply with it ends at once', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  work.env.PHAROS_API_KEY = await scene.server.createKey({ orgId: scene.orgId, scope: 'read_only' })
  expect((await json('plan')).exit).toBe(0)
  work.env.PHAROS_API_KEY = scene.apiKey
  await work.run('apply')
  work.env.PHAROS_API_KEY = await scene.server.createKey({ orgId: scene.orgId, scope: 'read_only' })
  expect((await json('drift')).exit).toBe(0)
  expect(await json('apply')).toMatchObject({ exit: 1, error: { code: 'E_READ_ONLY_KEY' } })
})

test('drift without a state is an error that says so, even with an empty file', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const noState = {
    exit: 1,
    error: { message: expect.stringContaining(`there is no state at ${work.statePath}`) },
  }
  expect(await json('drift')).toMatchObject(noState)
  writeFileSync(work.statePath, '')
  expect(await json('drift')).toMatchObject(noState)
  expect(await json('status')).toMatchObject({ exit: 1 })

  const manifests = join(work.folder, 'manifests')
  const forgotten = await runHere(['drift', manifests], work.env)
  expect([forgotten.exitCode, forgotten.stderr]).toEqual([1, expect.stringContaining('drift needs --state')])
})

test('plan and apply say that there is no state yet only when there is none', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const notice = `no state at ${work.statePath} yet: everything is new\n`
  expect((await work.run('plan')).stderr).toBe(notice)
  expect(readdirSync(work.folder)).toEqual(['manifests'])
  expect((await work.run('apply')).stderr).toBe(notice)
  expect((await work.run('plan')).stderr).toBe('')
})

test.each(['plan', 'apply', 'drift'])('%s names the missing folder of the state', async (command) => {
  const path = join(work.folder, 'missing', 'pharos.db')
  const run = await runHere([command, join(work.folder, 'manifests'), '--state', path], work.env)
  expect([run.exitCode, run.stderr]).toEqual([
    1,
    `error there is no folder ${join(work.folder, 'missing')} for the state ${path}: create it, or correct --state\n`,
  ])
})

test('a read-only checkout can be planned', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  chmodSync(work.statePath, 0o444)
  chmodSync(work.folder, 0o555)
  // The superuser may write everywhere.
  const someone = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const env = { ...work.env, PHAROS_STATE_KEY: readFileSync(`${work.statePath}.key`, 'utf8').trim() }

  for (const command of ['plan', 'drift', 'status']) {
    const paths = command === 'status' ? [] : [join(work.folder, 'manifests')]
    const run = await runProgram([command, ...paths, '--state', work.statePath], env, someone)
    expect([command, run.exitCode, run.stderr]).toEqual([command, 0, ''])
  }
  chmodSync(work.folder, 0o755)
})

test('Scenario 51: an output that cannot be written is reported in one line with exit code 1, and the changes are made', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const full = openSync('/dev/full', 'w')
  const apply = startIn(work, 'apply', { stdio: ['ignore', full, 'pipe'] })
  const run = await finished(apply)
  closeSync(full)
  expect([run.exitCode, run.stderr.split('\n').slice(1)]).toEqual([
    1,
    [expect.stringContaining('error the output cannot be written: ENOSPC'), ''],
  ])
  expect(await names()).toEqual(['a'])
})

test('Scenario 51: a closed stdout does not change a run', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const apply = startIn(work, 'apply')
  apply.stdout?.destroy()
  apply.stderr?.destroy()
  expect((await finished(apply)).exitCode).toBe(0)
  expect(await names()).toEqual(['a'])
})

test('Scenario 38: a reached plan limit stops creations without a storm of requests, and a deletion in the same run makes room', async () => {
  await scene.server.overrideLimits({ servicesMax: 2 }, scene.orgId)
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await work.run('apply')
  work.write({ 'c.yaml': manifestOf('c') })
  expect(await json('apply')).toMatchObject({ exit: 3, applied: { created: 0, failed: 1 } })

  work.write({ 'a.yaml': null, 'c.yaml': manifestOf('c', '      name: c\n') })
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1, removed: 1 } })
  expect(await names()).toEqual(['b', 'c'])
})

test('Scenario 45: a second run on one state ends with exit code 5, and an interrupted one finishes its operations in progress', async () => {
  work.write(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`s${i}.yaml`, manifestOf(`s${i}`)])))
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = startIn(work, 'apply')
  const firstEnd = finished(first)
  await new Promise<void>((resolve) => {
    scene.proxy.decide = async (): Promise<Fault> => {
      resolve()
      await released
      return 'pass'
    }
  })
  const second = await work.run('apply')
  expect([second.exitCode, second.stderr]).toEqual([
    5,
    expect.stringContaining('the state is locked by another run'),
  ])

  const told = new Promise((resolve) => first.stderr?.on('data', resolve))
  first.kill('SIGINT')
  await told
  release()
  expect((await firstEnd).exitCode).toBe(130)
  const begun = (await names()).length
  expect([begun > 0, begun < 10]).toEqual([true, true])
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 10 - begun, unchanged: begun } })
})

test('a second Ctrl-C ends a run at once, whose document says so', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const run = startProgram(['apply', 'manifests', '--state', 'pharos.db', '--json'], work.env, {
    cwd: work.folder,
  })
  const end = finished(run)
  await new Promise<void>((resolve) => {
    scene.proxy.decide = async (): Promise<Fault> => {
      resolve()
      await released
      return 'pass'
    }
  })
  const told = new Promise((resolve) => run.stderr?.once('data', resolve))
  run.kill('SIGINT')
  await told
  run.kill('SIGINT')
  const { exitCode, stdout } = await end
  release()

  expect([exitCode, JSON.parse(stdout)]).toEqual([
    130,
    {
      command: 'apply',
      exitCode: 130,
      error: {
        code: 'E_INTERRUPTED',
        message:
          'interrupted: the program ended at once; the next run determines the results of requests that were under way',
        exitCode: 130,
      },
    },
  ])
})

test('without state a service is managed by its id, and nothing else is', async () => {
  const made = await scene.client.createService(serviceRequest('a'), 'test')
  work.write({
    'a.yaml': manifestOf('a').replace('{name: a}', `{name: a, id: ${made.id}}`).replace('60s', '90s'),
    'b.yaml': manifestOf('b'),
  })
  const stateless = (command: string) =>
    runHere([command, join(work.folder, 'manifests'), '--json'], work.env)
  const applied = await stateless('apply')
  expect([applied.exitCode, JSON.parse(applied.stdout).applied]).toMatchObject([
    3,
    { updated: 1, blocked: 1 },
  ])
  expect((await services()).map((service) => service.interval_secs)).toEqual([90])
  expect(JSON.parse((await stateless('plan')).stdout).counts).toMatchObject({ update: 0, blocked: 1 })
})

test('Scenario 51: with --json there is one document on stdout, even when the command line or the server is wrong', async () => {
  const offline = { PHAROS_URL: 'http://127.0.0.1:9', PHAROS_API_KEY: scene.apiKey }
  for (const [args, env, code] of [
    [['plan', '--json'], {}, 'E_USAGE'],
    [['restore', 'x', '--json'], {}, 'E_USAGE'],
    [['plan', work.folder, '--json'], {}, 'E_USAGE'],
    [['plan', work.folder, '--json'], { ...offline, PHAROS_API_KEY: 'short' }, 'E_USAGE'],
  ] as const) {
    const run = await runHere(args, env)
    expect([run.exitCode, JSON.parse(run.stdout).error.code]).toEqual([1, code])
  }
})

test('the error for an unknown command lists the existing ones', async () => {
  const { exitCode, stderr } = await runHere(['restore'])
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(
      'there are: init, validate, lint, render, test, plan, apply, drift, export, approve',
    ),
  ])
})

test.each([
  ['imprt', 'import'],
  ['lnt', 'lint'],
  ['schemas', 'schema'],
])('the error for %s suggests %s, also when the help does not list it', async (word, command) => {
  const { stderr } = await runHere([word])

  expect(stderr).toContain(`(Did you mean ${command}`)
})

test('an option without its value does not use the next option as the value', async () => {
  const { exitCode, stdout } = await runHere(['status', '--state', '--json'])
  expect([exitCode, JSON.parse(stdout).error.message]).toEqual([
    1,
    expect.stringContaining('Its value is missing'),
  ])
})

test.each([
  [['--bogus'], 'there are: --version, --help; see "pharos --help"'],
  [
    ['state', 'status', '--bogus'],
    'there are: --json, --quiet, --state, --help; see "pharos state status --help"',
  ],
])('the error for an unknown option lists the existing ones: %j', async (args, hint) => {
  const { exitCode, stderr } = await runHere(args)
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(hint)])
})

test('the message about a missing URL suggests the default address of the server', async () => {
  const program = join(import.meta.dirname, '../dist/pharos-server.js')
  const help = execFileSync(process.execPath, [program, 'serve', '--help'], { encoding: 'utf8' })
  const port = /--port .*?default:\s+(\d+)/s.exec(help)?.[1]

  const { stderr } = await runHere(['export'])

  expect(stderr).toContain(`http://127.0.0.1:${port}\n`)
})

test.each(['drop', 'pass'] as const)(
  'a process killed during its creation (%s) leaves no duplicate and no orphan',
  async (fault) => {
    work.write({ 'a.yaml': manifestOf('a') })
    const child = startIn(work, 'apply')
    scene.proxy.decide = () => {
      if (fault === 'drop') child.kill('SIGKILL')
      return fault
    }
    scene.proxy.afterEffect = () => child.kill('SIGKILL')
    expect((await finished(child)).exitCode).toBeNull()

    scene.proxy.decide = () => 'pass'
    scene.proxy.afterEffect = () => {}
    expect((await work.run('apply', '--create-grace', '1ms')).exitCode).toBe(0)
    expect(await names()).toEqual(['a'])
    expect(await json('plan')).toMatchObject({ exit: 0, unchanged: ['a'] })
  },
)

test('a creation with a lost response is resolved in the same run, and its service is kept', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  const faults = ['lose', 'drop'] as const
  let sent = 0
  scene.proxy.decide = () => faults[sent++] ?? 'pass'

  const applied = await json('apply', '--create-grace', '10ms')
  expect(applied).toMatchObject({ exit: 0, applied: { created: 2, failed: 0 } })
  const ids: unknown = applied.outcomes.map(({ serviceId }: { serviceId: string }) => serviceId).sort()
  expect(ids).toEqual((await services()).map(({ id }) => id).sort())
  expect([await names(), sent]).toEqual([['a', 'b'], 3])
})

test('Scenario 29: no secret is printed or stored, and nothing else is hidden', async () => {
  const canaries = { TOKEN: 'canary-4f1c-env', ONE: 'a', NEXT: 'canary-9d2e-next' }
  Object.assign(work.env, canaries)
  const withSecrets = (name: string) =>
    manifestOf(
      'a',
      `      headers: {Authorization: {env: ${name}, prefix: "Bearer "}, X-One: {env: ONE}}\n      body: {env: TOKEN}\n`,
    )
  const outputs: string[] = []
  const keep = async (command: string, ...args: readonly string[]) => {
    const { stdout, stderr } = await work.run(command, ...args)
    outputs.push(stdout, stderr)
  }
  work.write({ 'a.yaml': withSecrets('TOKEN') })
  for (const command of ['plan', 'apply', 'drift']) await keep(command)
  work.write({ 'a.yaml': withSecrets('NEXT') })
  await keep('plan')
  expect(outputs.at(-2)).toContain('endpoints[0].headers.authorization: secret changed')
  for (const command of ['plan', 'apply', 'drift']) await keep(command, '--json')
  work.write({ 'a.yaml': withSecrets('NEXT').replace('url: https', 'url: ftp') })
  await keep('apply')

  const kept = ['pharos.db', 'pharos.db-journal', 'pharos.db.key']
    .map((file) => join(work.folder, file))
    .filter(existsSync)
  const everything = [...outputs, ...kept.map((file) => readFileSync(file, 'latin1'))].join('\n')
  for (const canary of [canaries.TOKEN, canaries.NEXT, scene.apiKey]) {
    for (const form of [
      canary,
      Buffer.from(canary).toString('base64'),
      Buffer.from(canary).toString('hex'),
    ]) {
      expect(everything).not.toContain(form)
    }
  }
  // A secret of one letter must not black out every "a" of the output.
  expect(outputs.join('\n')).toContain('created')
})

test('Scenario 55: existing services are brought into git by export and adopt, and a plan after it is empty', async () => {
  work.env.TOKEN = 'canary'
  work.write({
    'a.yaml': manifestOf('a', '      headers: {Authorization: {env: TOKEN}}\n'),
    'b.yaml': manifestOf('b', '  paused: true\n'),
  })
  await work.run('apply')

  const here = (...args: readonly string[]) => runHere(args, work.env)
  const [exported, state] = [join(work.folder, 'exported'), join(work.folder, 'other.db')]
  const { exitCode, stderr } = await here('export', '--write', exported)
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/set these before .*: A_AUTHORIZATION\n/)])
  work.env.A_AUTHORIZATION = 'canary'
  const adopted = await here('adopt', 'apply', exported, '--state', state, '--json')
  expect(JSON.parse(adopted.stdout)).toMatchObject({
    exitCode: 0,
    adoptions: [{ kind: 'match' }, { kind: 'match' }],
    requests: 2,
  })
  const plan = await here('plan', exported, '--state', state, '--json')
  expect(JSON.parse(plan.stdout)).toMatchObject({ exitCode: 0, changes: [], unchanged: ['a', 'b'] })
})

test('bind, unbind, status and history work on the state', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await work.run('apply')
  const here = async (...args: readonly string[]) => {
    const run = await runHere([...args, '--state', work.statePath, '--json'], work.env)
    return JSON.parse(run.stdout)
  }
  const { services: bound } = await here('status')
  expect(bound).toMatchObject([{ key: 'a' }])
  expect((await here('history')).runs).toMatchObject([
    { command: 'apply', exitCode: 0, counts: { created: 1 } },
  ])

  await here('unbind', 'a')
  expect(await json('plan')).toMatchObject({ exit: 6, counts: { blocked: 1 } })
  await here('bind', 'a', bound[0].id)
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { remembered: 1 }, requests: 2 })
})
