import { once } from 'node:events'
import { appendFile, chmod, chown, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../api/contract/service.ts'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { lockRotation } from '../store/sqlite/files/lockDataFolder.ts'
import { openDatabase } from '../store/sqlite/files/openDatabase.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { makeKeys, makeOrg } from '../testing/seedFolder.ts'
import { runProgram, type ServerProcess, startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'

const folder = suiteFolder()
let dataDir = ''
let server: ServerProcess
let orgId = ''
let key = ''

/** Runs a subcommand on the data folder and reads its JSON. */
async function admin(...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runHere([...args, '--data-dir', dataDir, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

function field(value: unknown, name: string): string {
  const found =
    typeof value === 'object' && value !== null
      ? Object.entries(value).find(([each]) => each === name)
      : undefined
  return String(found?.[1])
}

/** Creates the database of `folder`, changed by `change`, without a running program. */
async function makeDatabase(folder: string, change: (writer: Database) => void = () => {}): Promise<void> {
  const { writer, reader } = await openDatabase(folder)
  change(writer)
  reader.close()
  writer.close()
}

const sealedService = serviceBody({
  endpoints: [
    endpointBody({
      call: {
        Http: { method: 'GET', timeout: null, headers: { 'X-Token': { value: 'hush', sensitive: true } } },
      },
    }),
  ],
})

beforeAll(async () => {
  dataDir = join(folder, 'data')
  // While the server is stopped.
  orgId = field(await admin('org', 'create', '--name', 'Acme', '--plan', 'business'), 'id')
  key = field(await admin('key', 'create', '--org', orgId), 'key')
  server = await startProcess(dataDir, ['--admin-port', '0'])
})
afterAll(() => server.stop())

test('C024 a key is read_write by default, and keys can be created while the server runs', async () => {
  const readOnly = field(await admin('key', 'create', '--org', orgId, '--scope', 'read_only'), 'key')
  const scopeOf = async (each: string) =>
    field((await apiClient(server.url, each).get('/v1/org')).json, 'scope')

  expect([await scopeOf(key), await scopeOf(readOnly)]).toEqual(['read_write', 'read_only'])
})

test('C007 a key revoked by a subcommand is refused at its next request', async () => {
  const made = await admin('key', 'create', '--org', orgId)
  const client = apiClient(server.url, field(made, 'key'))
  const before = await client.get('/v1/org')

  await admin('key', 'revoke', '--id', field(made, 'id'))

  expect([before.status, (await client.get('/v1/org')).status]).toEqual([200, 401])
})

test('commands are listed in the order of publication', async () => {
  const { json } = await apiClient(server.url, key).post(
    '/v1/services',
    serviceBody({ regions: ['us-east-1', 'eu-west-1'] }),
  )
  const { id } = serviceResponseSchema.parse(json)

  const listed = await admin('commands')

  const type = 'StartServiceMonitoring'
  const start = (region: string) => expect.objectContaining({ type, region, serviceId: id, service_id: id })
  expect(listed).toEqual(expect.arrayContaining([start('us-east-1'), start('eu-west-1')]))
})

test('the master key is changed while the server seals and reads, and key ids stay what they were', async () => {
  const api = apiClient(server.url, key)
  const before = await api.post('/v1/services', sealedService)
  const { id } = serviceResponseSchema.parse(before.json)
  const keyFile = `${dataDir}.master-key`
  const oldKey = await readFile(keyFile, 'utf8')

  const rotated = await admin('master-key', 'rotate')
  const after = await api.post('/v1/services', sealedService)

  expect(Number(field(rotated, 'rewrapped'))).toBeGreaterThan(0)
  expect((await api.get(`/v1/services/${id}`)).text).toBe(before.text)
  expect([after.status, (await readFile(keyFile, 'utf8')) === oldKey]).toEqual([201, false])
})

test('a second concurrent rotation is refused, and the key in use stays in the file', async () => {
  const rotation = ['master-key', 'rotate', '--data-dir', dataDir]
  const unlock = await lockRotation(dataDir)
  const meanwhile = await runHere(rotation)
  unlock()

  const outcomes = await Promise.all([runProgram(rotation), runProgram(rotation)])
  const { status } = await apiClient(server.url, key).post('/v1/services', sealedService)

  expect(meanwhile).toMatchObject({ code: 1, stderr: expect.stringContaining('is being rotated') })
  expect(outcomes.map(({ code }) => code)).toContain(0)
  expect(status).toBe(201)
})

test('a master key in the environment is rotated by prefixing a new one', async () => {
  const other = join(folder, 'other')
  const [old, fresh] = ['1a'.repeat(32), '2b'.repeat(32)]
  const orgId = await makeOrg(other)
  const [otherKey = ''] = await makeKeys(other, orgId, 1)
  const given = (keys: string) => ({ environment: { PHAROS_MASTER_KEY: keys } })
  const started = (keys: string) => startProcess(other, [], given(keys))
  const rotate = (keys: string) => runHere(['master-key', 'rotate', '--data-dir', other], given(keys))
  const first = await started(old)
  expect((await apiClient(first.url, otherKey).post('/v1/services', sealedService)).status).toBe(201)
  await first.stop()

  expect(await rotate(old)).toMatchObject({ code: 1, stderr: expect.stringContaining('NEW,OLD') })
  const both = await started(`${fresh},${old}`)
  expect(await rotate(`${fresh},${old}`)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 secrets'),
  })
  expect((await apiClient(both.url, otherKey).post('/v1/services', sealedService)).status).toBe(201)
  await both.stop()
  const refused = await runHere(['serve', '--data-dir', other, '--port', '0'], given(old))
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is missing from PHAROS_MASTER_KEY'),
  })
  await (await started(fresh)).stop()
})

test('a rotation leaves the keys of another folder in a file that both use', async () => {
  const keyFile = `${dataDir}.master-key`
  const other = `${'0f'.repeat(32)}\n`
  await appendFile(keyFile, other)

  await admin('master-key', 'rotate')

  expect(await readFile(keyFile, 'utf8')).toMatch(new RegExp(`^[0-9a-f]{64}\n${other}$`))
})

test('a backup taken while the server runs can be served on its own, with the master key', async () => {
  const api = apiClient(server.url, key)
  const backup = join(folder, 'backup.db')
  const restored = join(folder, 'restored')
  await admin('backup', '--to', backup)
  const services = await api.get('/v1/services')
  const outcome = await runHere(['restore', '--from', backup, '--data-dir', restored])
  expect(outcome).toMatchObject({ code: 0 })

  const refused = await runHere(['serve', '--data-dir', restored, '--port', '0'])
  const copy = await startProcess(restored, ['--master-key-file', `${dataDir}.master-key`])
  const listed = await apiClient(copy.url, key).get('/v1/services')
  const code = await copy.stop()

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is missing from') })
  expect([listed.text, code]).toEqual([services.text, 0])
})

describe('a server that cannot start says why and what to do', () => {
  /** The stderr of `serve` before it exits with 1. */
  async function refusal(folder: string, ...args: readonly string[]): Promise<string> {
    const { code, stderr } = await runHere(['serve', '--data-dir', folder, '--port', '0', ...args])
    expect(code).toBe(1)
    return stderr
  }

  test('folder in use', async () => {
    expect(await refusal(dataDir)).toContain('is in use by another server: stop that one')
  })

  test('port taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0

    const outcome = await runHere(['serve', '--data-dir', join(folder, 'port'), '--port', String(port)])
    other.close()

    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: `pharos-server: port ${port} is taken by another program: use another port, or 0 for any free one\n`,
    })
    // Neither a data folder nor a master key is left behind.
    expect((await readdir(folder)).filter((name) => name.startsWith('port'))).toEqual([])
  })

  test('newer schema', async () => {
    const newer = join(folder, 'newer')
    await makeDatabase(newer, (writer) => writer.pragma('user_version = 99'))

    expect(await refusal(newer)).toContain('start the release that made it, or a newer one')
  })

  test('a file that is no database', async () => {
    const broken = join(folder, 'broken')
    await makeDatabase(broken)
    await writeFile(join(broken, 'control.db'), 'x'.repeat(8_192))

    expect(await refusal(broken)).toContain('the database is damaged or is not one: restore a backup')
  })

  test('a database with a damaged page', async () => {
    const damaged = join(folder, 'damaged')
    let page = 0
    await makeDatabase(damaged, (writer) => {
      // Every program reads the schema; few requests need this page.
      const root = writer.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'incident_updates'")
      page = Number(root.pluck().get())
    })
    const file = join(damaged, 'control.db')
    const bytes = await readFile(file)
    bytes.fill(0xff, (page - 1) * 4_096, page * 4_096)
    await writeFile(file, bytes)

    expect(await refusal(damaged)).toContain(`${file} is damaged: restore a backup into an empty folder`)
  })

  test.each([
    ['a database', 0o700, 0o400],
    ['a folder', 0o500, 0o600],
  ])('%s that is read-only', async (what, folderMode, fileMode) => {
    const readOnly = join(folder, what.replace(' ', '-'))
    await makeDatabase(readOnly)
    const file = join(readOnly, 'control.db')
    // Root can write everything: the server runs as another user then.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined
    await chmod(folder, 0o755)
    await chmod(file, fileMode)
    if (uid !== undefined) await Promise.all([file, readOnly].map((path) => chown(path, uid, uid)))
    await chmod(readOnly, folderMode)

    await expect(startProcess(readOnly, [], { uid })).rejects.toThrow('check its owner')
    await chmod(readOnly, 0o700)

    expect((await stat(file)).mode & 0o777).toBe(fileMode)
  })

  test('a master key that others can read', async () => {
    const open = join(folder, 'open')
    const file = join(folder, 'open.key')
    await writeFile(file, '0'.repeat(64))
    await chmod(file, 0o644)

    expect(await refusal(open, '--master-key-file', file)).toContain(`chmod 600 ${file}`)
  })

  test('a master key in the data folder', async () => {
    const inside = join(folder, 'inside')

    expect(await refusal(inside, '--master-key-file', join(inside, 'key'))).toContain('is in the data folder')
  })

  test('an invalid flag', async () => {
    const outcome = await runHere(['serve', '--data-dir', folder, '--port', 'http'])

    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('must be a whole number from 0 to 65535')
  })
})

test('--help of serve names every environment variable', async () => {
  const { stdout } = await runHere(['serve', '--help'])

  const variables = [
    'DATA_DIR',
    'PORT',
    'HOST',
    'ADMIN_PORT',
    'ADMIN_HOST',
    'CONNECTIONS_MAX',
    'MASTER_KEY_FILE',
    'ALLOW_RANGES',
    'LOG_LEVEL',
    'MASTER_KEY',
  ]
  expect(variables.filter((name) => !stdout.includes(`PHAROS_${name}`))).toEqual([])
})

test('--version prints the release', async () => {
  const { code, stdout } = await runProgram(['--version'])

  expect([code, stdout]).toEqual([0, `${packageJson.version}\n`])
})

test('settings can be read from the environment', async () => {
  const other = join(folder, 'environment')

  const outcome = await runProgram(['org', 'create', '--name', 'x'], { PHAROS_DATA_DIR: other })
  const listed = await runHere(['org', 'list', '--data-dir', other, '--json'])

  expect([outcome.code, JSON.parse(listed.stdout)]).toMatchObject([0, [{ name: 'x', plan: 'business' }]])
})

test('limits, plans and maintenance windows can be changed while the server runs', async () => {
  const api = apiClient(server.url, key)
  const limits = await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '120')
  const refused = await api.post('/v1/services', serviceBody())
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', 'plan')
  const { id } = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
  const span = ['--starts-at', '2026-03-01T22:00:00Z', '--ends-at', '2026-03-01T23:00:00+00:00']
  const window = await admin(
    'maintenance',
    'create',
    '--org',
    orgId,
    '--title',
    'Move',
    '--service',
    id,
    ...span,
  )

  expect([field(limits, 'intervalSecsMin'), refused.status]).toEqual(['120', 403])
  expect(await admin('maintenance', 'list', '--org', orgId)).toEqual([
    {
      id: field(window, 'id'),
      orgId,
      title: 'Move',
      startsAt: '2026-03-01T22:00:00.000Z',
      endsAt: '2026-03-01T23:00:00.000Z',
      serviceIds: [id],
    },
  ])
  expect((await api.get(`/v1/incidents/${field(window, 'id')}`)).status).toBe(404)
})

test('an unknown organisation or plan is named as such', async () => {
  await expect(admin('key', 'create', '--org', 'nobody')).rejects.toThrow('there is no organisation nobody')
  await expect(admin('org', 'create', '--name', 'x', '--plan', 'gold')).rejects.toThrow(
    'there is no plan gold: "pharos-server plan list" shows them',
  )
  await expect(admin('key', 'list', '--org', 'nobody')).rejects.toThrow('there is no organisation nobody')
})

test('texts in administration must be visible, one line and within their length', async () => {
  const title = ['maintenance', 'create', '--org', orgId, '--service', 'x', '--title']
  const span = ['--starts-at', '2026-03-01T22:00:00Z', '--ends-at', '2026-03-01T23:00:00Z']
  const key = ['key', 'create', '--org', orgId, '--created-by']

  await expect(admin('org', 'create', '--name', ' ')).rejects.toThrow('must not be empty')
  await expect(admin('org', 'create', '--name', '\u200b')).rejects.toThrow('must have a visible character')
  await expect(admin('org', 'create', '--name', `a${' '.repeat(200)}`)).rejects.toThrow('at most 200')
  await expect(admin(...key, 'Ada\u001b[2J')).rejects.toThrow('the control character U+001B (character 4)')
  await expect(admin(...key, `a${' '.repeat(255)}`)).rejects.toThrow('at most 255')
  await expect(admin(...title, 'a\u202eb', ...span)).rejects.toThrow('the direction control U+202E')
  await expect(admin(...title, `a${' '.repeat(500)}`, ...span)).rejects.toThrow('at most 500')
})
