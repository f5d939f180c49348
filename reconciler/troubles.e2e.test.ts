import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { databaseFile } from '../server/store/sqlite/files/openDatabase.ts'
import { startServer } from '../server/testing/startServer.ts'
import { openStore } from './state/openStore.ts'
import { openStateFile } from './state/sqlite/sqliteFile.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { serviceRequest } from './testing/orgScene.ts'
import { startProgram } from './testing/pharosProgram.ts'
import { finished } from './testing/processes.ts'
import { runHere } from './testing/programHere.ts'

const scene = new CommandScene(startServer)
const { changeInterval, work } = scene

/** Runs `pharos ARGS` in this process, with the environment of the workplace. */
const pharos = (...args: readonly string[]) => runHere(args, work.env)
/** `name` in the folder of the workplace. */
const at = (name: string): string => join(work.folder, name)
/** Paths and state as most commands take them. */
const onManifests = (): readonly string[] => [at('manifests'), '--state', work.statePath]

test('an unwritable state or manifest is reported with why and what to do, before any request', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const state = ['--state', work.statePath]
  const failures: readonly (readonly [readonly string[], string])[] = [
    [['state', 'export', at('nodir/s'), ...state], `there is no folder ${at('nodir')} for`],
    [['state', 'export', '/dev/full', ...state], 'the disk is full: free some space'],
    [['state', 'import', at('nodir/s'), '--state', at('new.db')], 'it does not exist'],
    [['export', '--write', at('pharos.db/x')], 'cannot be created below a file'],
  ]

  for (const [args, words] of failures) {
    const { exitCode, stderr, stdout } = await pharos(...args, '--json')
    expect([exitCode, stderr], args.join(' ')).toEqual([1, expect.stringContaining(words)])
    expect(JSON.parse(stdout).error.code, args.join(' ')).toMatch(/^E_(?:FILE|USAGE)$/)
  }
  expect(readdirSync(work.folder).filter((name) => name.endsWith('.tmp') || name === 'new.db')).toEqual([])
})

test('a state that is exported again keeps its mode', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const state = ['--state', work.statePath]
  await pharos('state', 'export', at('s.json'), ...state)
  expect(statSync(at('s.json')).mode & 0o777).toBe(0o600)
  chmodSync(at('s.json'), 0o640)

  await pharos('state', 'export', at('s.json'), ...state)
  expect(statSync(at('s.json')).mode & 0o777).toBe(0o640)
})

test('an aborted export leaves no partial set of manifests behind', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  await pharos('apply', ...onManifests())
  mkdirSync(at('there/.taken'), { recursive: true })
  // What the second file would be written as first.
  mkdirSync(at(`there/b.yaml.${process.pid}.tmp`))

  const { exitCode, stderr } = await pharos('export', '--write', at('there'))
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('b.yaml cannot be written')])
  expect(existsSync(at('there/a.yaml'))).toBe(false)
})

test('- as the file exports a state to stdout and imports it from stdin', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())

  const shown = await pharos('state', 'export', '-', '--state', work.statePath)
  await pharos('state', 'export', at('s.json'), '--state', work.statePath)
  expect(shown.stdout).toBe(readFileSync(at('s.json'), 'utf8'))
  expect(existsSync('-')).toBe(false)

  const importing = startProgram(['state', 'import', '-', '--state', at('second.db')], work.env)
  importing.stdin?.end(shown.stdout)
  expect((await finished(importing)).exitCode).toBe(0)
  const second = await pharos('state', 'export', '-', '--state', at('second.db'))
  expect(second.stdout).toBe(shown.stdout)
})

test('an import fills an empty state, and never overwrites another one', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  await pharos('state', 'export', at('s.json'), '--state', work.statePath)
  const begun = await openStore(at('begun.db'), {})
  await begun.close()

  expect((await pharos('state', 'import', at('s.json'), '--state', at('begun.db'))).exitCode).toBe(0)
  const again = await pharos('state', 'import', at('s.json'), '--state', at('begun.db'))
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('import into a new one')])
  expect((await pharos('status', '--state', at('begun.db'))).stdout).not.toContain('in use')
})

test('a command that fails before its first write creates no state', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const readOnly = await scene.server.createKey({ orgId: scene.orgId, scope: 'read_only' })
  const apply = ['apply', ...onManifests()] as const
  const without = { ...work.env, PHAROS_API_KEY: readOnly }

  expect(await runHere([...apply, '--json'], without)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('E_READ_ONLY_KEY'),
  })
  expect((await runHere(apply, { ...work.env, PHAROS_API_KEY: `pharos_${'0'.repeat(64)}` })).exitCode).toBe(1)
  expect((await pharos('apply', at('nowhere'), '--state', work.statePath)).exitCode).toBe(1)
  expect((await pharos(...apply, '--plan', 'f'.repeat(31))).exitCode).toBe(1)
  expect((await pharos('approve', '--pointers', '/regions', '--state', work.statePath)).exitCode).toBe(1)
  expect(readdirSync(work.folder)).toEqual(['manifests'])

  // A bind writes no service, so that a key that only reads is enough for it.
  const service = await scene.client.createService(serviceRequest('a'), 'op')
  expect((await runHere(['bind', 'a', service.id, '--state', work.statePath], without)).exitCode).toBe(0)
})

test('show prints what a run created and changed, field by field', async () => {
  work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b') })
  const made = await scene.json('apply')
  const ids = (await scene.services()).map(({ id }) => id)
  await changeInterval('b', 300)
  work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s') })
  const changed = await scene.json('apply')

  const eventsOf = async ({ runId }: { runId: string }) =>
    JSON.parse((await pharos('show', runId, '--state', work.statePath, '--json')).stdout).events
  expect(await eventsOf(made)).toMatchObject([
    { type: 'Created', key: 'a', message: `service ${ids[0]} was created` },
    { type: 'Created', key: 'b', message: `service ${ids[1]} was created` },
  ])
  expect(await eventsOf(changed)).toMatchObject([
    { type: 'Updated', key: 'a', message: `service ${ids[0]}: interval: 1m → 1m30s` },
    { type: 'Updated', key: 'b', message: `service ${ids[1]}: interval: 5m → 1m` },
  ])
})

test('status distinguishes a holder without renewals from one at work', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const other = await openStore(work.statePath, {})
  await other.acquire('a controller')
  const status = async () => {
    const text = await pharos('status', '--state', work.statePath)
    const { stdout } = await pharos('status', '--state', work.statePath, '--json')
    return { text: text.stdout, lease: JSON.parse(stdout).lease }
  }

  const atWork = await status()
  expect(atWork.text).toContain('in use by a controller, last active ')
  expect(atWork.lease).toMatchObject({ holder: 'a controller', isExpired: false })

  const anHourAgo = Date.now() / 1_000 - 3_600
  utimesSync(work.statePath, anHourAgo, anHourAgo)
  const silent = await status()
  expect(silent.text).toContain('locked by a controller, which is inactive, last active ')
  expect(silent.text).toContain('--lock-timeout 30s')
  expect(silent.lease).toMatchObject({ holder: 'a controller', isExpired: true, isGone: false })
  await other.close()

  const ended = spawnSync(process.execPath, ['--version'])
  const next = await openStore(work.statePath, {})
  await next.acquire(`pharos on ${hostname()}, process ${ended.pid}`)
  const gone = await status()
  expect(gone.text).toContain(`process ${ended.pid}, which has ended`)
  expect(gone.text).toContain('the next run takes over at once')
  expect(gone.lease).toMatchObject({ isExpired: true, isGone: true })
  await next.close()
})

test('a suspension of no service is reported', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const suspend = (scope: string) => pharos('suspend', scope, '--reason', 'x', '--state', work.statePath)

  expect(await suspend('b*')).toMatchObject({
    exitCode: 0,
    stderr: 'no service of the state is in b* so far: see "pharos state status"\n',
  })
  for (const scope of ['a*', '*']) expect(await suspend(scope)).toMatchObject({ exitCode: 0, stderr: '' })
})

test('status distinguishes an expired suspension from one in force', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const state = ['--state', work.statePath]
  await pharos('suspend', 'a', '--reason', 'a migration', '--actor', 'ada', '--for', '1ns', ...state)
  await pharos('suspend', 'b', '--reason', 'a migration', '--actor', 'ada', '--for', '1h', ...state)

  const { stdout } = await pharos('status', ...state)
  expect(stdout).toMatch(/‖ a suspended by ada since \S+, expired \S+: a migration/)
  expect(stdout).toMatch(/‖ b suspended by ada since \S+ until \S+: a migration/)
})

test('a protected service can be removed or detached, and the output names both ways', async () => {
  const kept = manifestOf('b', '      assertions: []\n')
  work.write({ 'a.yaml': `${manifestOf('a')}policy: {protect: true}\n`, 'b.yaml': kept })
  await pharos('apply', ...onManifests())
  work.write({ 'a.yaml': null })

  const { stdout } = await pharos('plan', ...onManifests())
  expect(stdout).toContain('restore the manifest with protect: false')
  const [, command = ''] = /"pharos (state unbind a)"/.exec(stdout) ?? []
  await pharos(...command.split(' '), '--state', work.statePath)
  expect((await pharos('plan', ...onManifests())).stdout).toMatch(/\nNo changes: 1 unchanged\n$/)
})

test('a plan as JSON has the same fields as the plan as text: moved endpoints have not changed', async () => {
  work.write({ 'a.yaml': manifestOf('a', '    - url: https://second.example.com/\n') })
  await pharos('apply', ...onManifests())
  const first = '    - url: https://first.example.com/\n'
  work.write({ 'a.yaml': manifestOf('a').replace('  endpoints:\n', `  endpoints:\n${first}`) })

  const text = (await pharos('plan', ...onManifests())).stdout
  const { changes } = JSON.parse((await pharos('plan', ...onManifests(), '--json')).stdout)
  const told = changes[0].fields.map(({ path, from, to }: Record<string, { url: string } | null>) => [
    path,
    from?.url,
    to?.url,
  ])
  expect(told).toEqual([
    ['endpoints[0]', undefined, 'https://first.example.com/'],
    ['endpoints[1]', 'https://second.example.com/', undefined],
  ])
  for (const [path] of told) expect(text).toContain(`      ${path}: `)
})

test('a run reports its changes and releases its lease, even when the state is full', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const database = await openStateFile(work.statePath)
  const refuse = "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
  database.exec(`CREATE TRIGGER no_run BEFORE INSERT ON run ${refuse}`)
  database.exec(`CREATE TRIGGER no_release BEFORE UPDATE ON lease WHEN NEW.holder IS NULL ${refuse}`)
  work.write({ 'b.yaml': manifestOf('b') })

  const { exitCode, stdout, stderr } = await pharos('apply', ...onManifests(), '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    exitCode: 1,
    outcomes: [{ kind: 'create', key: 'b', result: 'done' }],
    error: { code: 'E_STATE', message: 'the state cannot be used: the disk is full' },
  })
  expect([exitCode, stderr]).toEqual([1, 'error the state cannot be used: the disk is full\n'])

  database.exec('DROP TRIGGER no_run; DROP TRIGGER no_release')
  database.close()
  expect((await pharos('apply', ...onManifests())).stdout).toContain('Nothing to do: 2 unchanged')
})

test('services beyond the plan limit are reported in one line, however many there are', async () => {
  const names = Array.from({ length: 22 }, (_, index) => `s${index}`)
  work.write(Object.fromEntries(names.map((name) => [`${name}.yaml`, manifestOf(name)])))
  scene.proxy.refusesWith = (method) =>
    method === 'POST' ? { status: 403, error: 'plan limit: at most 0 active services' } : undefined

  const { stdout } = await pharos('apply', ...onManifests())
  const left = stdout.split('\n').filter((line) => line.startsWith('  x '))
  expect(left).toHaveLength(2)
  expect(left.join('\n')).toMatch(/plan limit of the organisation: not tried.*: s\d+, s/)

  scene.proxy.refusesWith = () => undefined
  await pharos('apply', ...onManifests())
  work.write(Object.fromEntries(names.slice(1).map((name) => [`${name}.yaml`, null])))
  const held = await pharos('apply', ...onManifests())
  expect(held.stdout).toMatch(/blocked by a safety limit: (?:s\d+, ){19}s\d+ and 1 more \(maxDeletes/)
})

test('a suspected duplicate of a service is reported and not changed, and a service that differs is not reported', async () => {
  work.env.TOKEN = 'canary'
  const header = '      headers: {Authorization: {env: TOKEN}}\n'
  work.write({ 'a.yaml': manifestOf('a', header), 'b.yaml': manifestOf('b') })
  await pharos('apply', ...onManifests())
  const [a] = await scene.services()
  const twice = serviceRequest('a')
  for (const { call } of twice.endpoints)
    call.Http = { ...call.Http, headers: { Authorization: { value: 'another', sensitive: true } } }
  const { id } = await scene.client.createService(twice, 'op-1')
  await scene.client.createService(serviceRequest('b', 300), 'op-2')

  const plan = await pharos('plan', ...onManifests(), '--json')
  expect(JSON.parse(plan.stdout)).toMatchObject({
    changes: [],
    suspectedDuplicates: [{ key: 'a', of: a?.id, id }],
  })
  expect(plan.stderr).toBe(
    `service ${id} equals service ${a?.id} of a, and no manifest of this set has it: if it is a duplicate, delete it with DELETE /v1/services/${id}\n`,
  )
  expect((await pharos('apply', ...onManifests())).exitCode).toBe(0)
  expect(await scene.names()).toHaveLength(4)
})

test('a service created manually in place of a deleted one is not a duplicate, and can be adopted as the plan says', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  await pharos('apply', ...onManifests())
  const [ours] = await scene.services()
  if (ours === undefined) throw new Error('it was not made')
  await scene.client.deleteService(ours.id)
  const { id } = await scene.client.createService(serviceRequest('a'), 'op-1')

  const plan = await pharos('plan', ...onManifests())
  expect([plan.exitCode, plan.stderr]).toEqual([6, ''])
  expect(plan.stdout).toContain(
    `(its service ${ours.id} was deleted: after "pharos state unbind a" the other one can be adopted or bound;`,
  )
  const drift = await pharos('drift', ...onManifests(), '--json')
  expect([drift.exitCode, JSON.parse(drift.stdout).drift]).toEqual([
    2,
    [{ kind: 'deleted', key: 'a', id: ours.id, fields: [] }],
  ])

  await pharos('unbind', 'a', '--state', work.statePath)
  expect((await pharos('adopt', 'apply', ...onManifests())).stdout).toContain(`a: adopted service ${id}`)
  expect((await pharos('apply', ...onManifests())).exitCode).toBe(0)
  expect((await pharos('drift', ...onManifests())).exitCode).toBe(0)
})

test('external text stays on its line, and cannot control a terminal or a pipeline', async () => {
  const evil = 'x\n::error::no\u001b[31m\u009b31m\u202e'
  const nasty = JSON.stringify(evil)
  const secondKey = `${manifestOf('b')}${nasty}: 1\n${nasty}: 2\n`
  work.write({ 'a.yaml': manifestOf('a'), [`${evil}.yaml`]: manifestOf('c', '      timeout: 1\n') })
  await pharos('apply', ...onManifests())
  const named = await scene.client.createService(serviceRequest('d'), 'op')
  // The server takes no such name any more; one that was stored before, or another server, still has it.
  const database = new Database(databaseFile(scene.server.dataDir))
  database
    .prepare("UPDATE services SET response = json_set(response, '$.name', ?) WHERE id = ?")
    .run(evil, named.id)
  database.close()
  await pharos('suspend', 'z', '--reason', evil, '--actor', evil, '--state', work.statePath)
  await pharos('bind', 'd', named.id, '--state', work.statePath)
  work.write({ 'b.yaml': secondKey, 'd.yaml': manifestOf('d'), 'z.yaml': manifestOf('z') })

  const shown = await Promise.all([
    pharos('validate', at('manifests')),
    pharos('render', at('manifests')),
    pharos('fmt', at('manifests'), '--check'),
    pharos('plan', ...onManifests()),
    pharos('apply', ...onManifests()),
    pharos('status', '--state', work.statePath),
    pharos('unbind', 'd', '--state', work.statePath),
    pharos('state', 'verify', '--state', work.statePath),
    pharos('show', evil, '--state', work.statePath),
  ])
  for (const { stdout, stderr } of shown) {
    expect(`${stdout}${stderr}`).not.toMatch(/^::error|[^\P{Cc}\n]|\u202e/mu)
  }
  expect(shown[0]?.stdout).toContain('x\\u000a::error::no\\u001b[31m')
})
