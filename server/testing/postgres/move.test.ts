import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { monotonicMs } from '../../process/systemEnvironment.ts'
import { prepareFile } from '../../results/file/openResults.ts'
import { prepareSchema } from '../../results/postgres/postgresResults.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { PORTABLE_TABLES, SEEDED_TABLES, UNMOVED_TABLES } from '../../store/moving/portableTables.ts'
import { postgresEngine } from '../../store/postgres/postgresEngine.ts'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { openDatabase } from '../../store/sqlite/files/openDatabase.ts'
import { openPortable } from '../../store/sqlite/files/portable.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer, type TestServer } from '../startServer.ts'
import { durableDatabases } from './durableDatabases.ts'

let folder: string
let dataDir: string
let url: string
beforeEach(async () => {
  folder = testFolder()
  dataDir = join(folder, 'data')
  url = await durableDatabases().createEmpty()
})

async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(args)
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

const move = (...args: readonly string[]) => runHere(['migrate', ...args])
const countOf = (table: string) =>
  withConnection(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${table}`)
    return rows[0]?.count
  })

const TOKEN = { value: 'hush', sensitive: true }
const CALL = { Http: { method: 'GET' as const, timeout: null, headers: { 'X-Token': TOKEN } } }
const CART = serviceBody({ name: 'Cart' })
const RETRY = { 'Idempotency-Key': 'cart' }

/** Fills a folder through the API and the command line; resolves to the key that reads it. */
async function fill(): Promise<{ readonly apiKey: string; readonly orgId: string }> {
  const server = await startServer({ engine: 'sqlite', dataDir, rateLimit: 'none' })
  const { apiKey, orgId } = server
  const api = apiClient(server.url, apiKey)
  const made = await api.post('/v1/services', serviceBody({ endpoints: [endpointBody({ call: CALL })] }))
  const { id } = serviceResponseSchema.parse(made.json)
  await api.post('/v1/services', CART, { headers: RETRY })
  const farAway = endpointBody({ url: `https://example.com/${'x'.repeat(1_000)}` })
  const long = serviceBody({ name: 'Long', endpoints: Array.from({ length: 20 }, () => farAway) })
  await api.post('/v1/services', long, { headers: { 'Idempotency-Key': 'long' } })
  await api.post(`/v1/services/${id}/pause`)
  await api.post(`/v1/services/${id}/resume`)
  const opened = { title: 'Größer', message: 'x', severity: 'major_outage', service_ids: [id] }
  const incident = (await api.post('/v1/incidents', opened)).json
  if (typeof incident !== 'object' || incident === null || !('id' in incident)) throw new Error('no incident')
  await api.post(`/v1/incidents/${incident.id}/updates`, { body: 'fixed', status: 'resolved' })
  await api.post('/v1/incidents', { ...opened, title: 'Second' })
  const window = ['--title', 'Upgrade', '--service', id, '--starts-at', '2026-01-01T00:00:00Z']
  const of = ['--data-dir', dataDir, '--org', orgId]
  await run('maintenance', 'create', ...of, ...window, '--ends-at', '2126-01-01T00:00:00Z')
  await run('agent', 'create', '--data-dir', dataDir, '--region', 'us-east-1', '--name', 'one')
  await run('owner', 'invite', '--data-dir', dataDir, '--org', orgId, '--email', 'owner@example.com')
  await server.close()
  return { apiKey, orgId }
}

/** Every response of the API that a key reads, and the response to a creation that is sent again. */
async function responsesOf({ url: base }: TestServer, apiKey: string): Promise<readonly string[]> {
  const api = apiClient(base, apiKey)
  const list = await api.get('/v1/services')
  const ids = serviceResponseSchema
    .array()
    .parse(list.json)
    .map(({ id }) => id)
  const responses = await Promise.all(
    [
      '/v1/org',
      '/v1/incidents',
      '/v1/incidents?search=gr%C3%B6%C3%9F',
      ...ids.map((id) => `/v1/services/${id}`),
    ].map(async (path) => (await api.get(path)).text),
  )
  const again = await api.post('/v1/services', CART, { headers: RETRY })
  return [list.text, ...responses, again.text, String((await api.get('/v1/services')).text === list.text)]
}

/** The responses of the server of `engine` on `dir`. */
async function served(engine: 'sqlite' | 'postgres', dir: string, apiKey: string) {
  const server = await startServer({ engine, dataDir: dir, rateLimit: 'none' })
  const responses = await responsesOf(server, apiKey)
  await server.close()
  return responses
}

/** A folder for a server on the database at `url`, with the master key of `from`. */
function folderFor(from: string): string {
  const dir = join(folder, 'on-postgres')
  mkdirSync(dir)
  writeFileSync(join(dir, 'database-url'), url)
  copyFileSync(defaultKeyFile(from), defaultKeyFile(dir))
  return dir
}

test('a store that is moved to PostgreSQL and back responds with the same bytes', async () => {
  const { apiKey, orgId } = await fill()
  const back = join(folder, 'back')
  const before = await served('sqlite', dataDir, apiKey)
  const there = JSON.parse(await run('migrate', '--from', dataDir, '--to', url, '--json'))
  const onPostgres = folderFor(dataDir)
  const between = await served('postgres', onPostgres, apiKey)
  const audit = ['audit', 'list', '--org', orgId, '--json']
  const auditThere = await run(...audit, '--database', url)
  // A folder is a place like a database; the URL may come from a file.
  const again = JSON.parse(
    await run('migrate', '--from', join(onPostgres, 'database-url'), '--to', back, '--json'),
  )
  copyFileSync(defaultKeyFile(dataDir), defaultKeyFile(back))
  const after = await served('sqlite', back, apiKey)
  const auditBack = await run(...audit, '--data-dir', back)
  const rotated = await run('master-key', 'rotate', '--data-dir', back, '--json')

  expect(before.at(-1)).toBe('true')
  expect(between).toEqual(before)
  expect(after).toEqual(before)
  const rowsOf = (moves: { moved: { table: string; rows: number }[] }, name: string) =>
    moves.moved.find(({ table }) => table === name)?.rows
  const names = [
    'services',
    'sealed_values',
    'incidents',
    'incident_updates',
    'remembered_creations',
    'agent_tokens',
  ]
  expect(names.map((name) => rowsOf(there, name))).toEqual([3, 1, 3, 3, 2, 1])
  expect(names.map((name) => rowsOf(again, name))).toEqual([3, 1, 3, 3, 2, 1])
  expect(auditBack).toBe(auditThere)
  // Whatever cannot be decrypted could not be wrapped again.
  expect(JSON.parse(rotated)).toMatchObject({ rewrapped: 1 })
})

test('texts of release 0.1 with U+0000, which PostgreSQL cannot store, move with U+FFFD in its place', async () => {
  await run('org', 'create', '--data-dir', dataDir, '--name', 'Acme')
  const { writer, reader } = await openDatabase(dataDir)
  writer.exec("UPDATE orgs SET name = 'A' || char(0) || 'B'")
  writer.close()
  reader.close()

  await run('migrate', '--from', dataDir, '--to', url)
  const orgs = JSON.parse(await run('org', 'list', '--database', url, '--json'))

  expect(orgs).toMatchObject([{ name: 'A\uFFFDB' }])
})

test('after a move the former place of the data is refused', async () => {
  await fill()
  await run('migrate', '--from', dataDir, '--to', url)
  const refused = await runHere(['org', 'list', '--data-dir', dataDir])
  const repeated = await move('--from', dataDir, '--to', url)
  const elsewhere = await durableDatabases().createEmpty()
  const again = await move('--from', dataDir, '--to', elsewhere)
  const back = join(folder, 'back')
  const text = await run('migrate', '--from', url, '--to', back)
  const refusedThere = await runHere(['org', 'list', '--database', url])
  const third = join(folder, 'third')
  const againThere = await move('--from', url, '--to', third)

  for (const { code, stderr } of [refused, repeated, again]) {
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the data of ${dataDir} was moved to`)])
  }
  for (const { code, stderr } of [refusedThere, againThere]) {
    expect([code, stderr]).toEqual([1, expect.stringContaining(`was moved to ${back}`)])
  }
  const tables = await withConnection(elsewhere, (client) =>
    client.query('SELECT FROM pg_tables WHERE schemaname = current_schema()'),
  )
  expect(tables.rowCount).toBe(0)
  expect(existsSync(third)).toBe(false)
  expect(text).toMatch(/^services +3 +[0-9a-f]{64}$/m)
})

test('a refused move leaves no files where there was no data, and keeps those of others', async () => {
  await fill()
  await run('migrate', '--from', dataDir, '--to', url)
  const back = join(folder, 'back')
  mkdirSync(back)
  writeFileSync(join(back, 'master.key'), 'mine')
  await withConnection(url, (client) => client.query('CREATE TABLE of_another_release (id integer)'))
  await withConnection(url, (client) => client.query('INSERT INTO of_another_release VALUES (1)'))
  const refused = await move('--from', url, '--to', back)
  const left = readdirSync(back)
  await withConnection(url, (client) => client.query('DROP TABLE of_another_release'))
  await run('migrate', '--from', url, '--to', back)
  const moved = readdirSync(back)

  expect(refused.stderr).toContain('the target has no tables for of_another_release (1 rows)')
  expect(left).toEqual(['master.key'])
  expect(moved).toEqual(expect.arrayContaining(['control.db', 'master.key', 'results.db']))
})

test('a store in use is not moved, on either side', async () => {
  await fill()
  const server = await startServer({ engine: 'sqlite', dataDir })
  const used = await move('--from', dataDir, '--to', url)
  await server.close()
  await run('migrate', '--from', dataDir, '--to', url)
  const shared = await startServer({ engine: 'postgres', dataDir: folderFor(dataDir) })
  const usedThere = await move('--from', url, '--to', join(folder, 'back'))
  await shared.close()

  expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by another server') })
  expect(usedThere).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is in use by another pharos-server'),
  })
})

test('data without a table in the target is left behind only on request', async () => {
  const { orgId } = await fill()
  // Represents a table that a database of another release lacks.
  await run('migrate', '--database', url)
  await withConnection(url, (client) => client.query('DROP TABLE agent_tokens CASCADE'))
  const lost = await move('--from', dataDir, '--to', url)
  const orgs = await countOf('orgs')
  const stillUsed = await run('org', 'list', '--data-dir', dataDir, '--json')

  expect(lost.stderr).toContain(
    'the target has no tables for agent_tokens (1 rows): move with another release',
  )
  expect(orgs).toBe(0)
  expect(JSON.parse(stillUsed)).toContainEqual(expect.objectContaining({ id: orgId }))
})

test('a move that fails on the way leaves the target empty and the source in use', async () => {
  await fill()
  await run('migrate', '--database', url)
  await withConnection(url, (client) =>
    client.query(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.body = NEW.body || '.'; RETURN NEW; END $$;
      CREATE TRIGGER spoil BEFORE INSERT ON incident_updates FOR EACH ROW EXECUTE FUNCTION spoil()`),
  )
  const differing = await move('--from', dataDir, '--to', url)
  const left = [await countOf('orgs'), await countOf('incidents')]
  await withConnection(url, (client) => client.query('DROP FUNCTION spoil CASCADE'))
  await run('org', 'list', '--data-dir', dataDir)
  const repeated = await move('--from', dataDir, '--to', url)

  expect(differing.stderr).toContain('incident_updates differs after the move')
  expect(left).toEqual([0, 0])
  expect(repeated.code).toBe(0)
})

/** The data of a new folder, with its results. */
function openFolder() {
  mkdirSync(dataDir)
  return openPortable(dataDir, prepareFile(dataDir))
}

test('each table of a data folder moves, or is known not to', async () => {
  const portable = await openFolder()
  const tables = [...(await portable.columns()).keys()]
  await portable.close()

  const known = new Set([...PORTABLE_TABLES.map(({ name }) => name), ...UNMOVED_TABLES, ...SEEDED_TABLES])
  expect(tables.filter((name) => !known.has(name))).toEqual([])
})

test('tables of both kinds of database have the same columns', async () => {
  await run('migrate', '--database', url)
  const folderTables = await openFolder()
  const here = await folderTables.columns()
  await folderTables.close()
  const databaseTables = await postgresEngine(url, { nowMs: Date.now, monotonicMs }).openPortable(
    'source',
    prepareSchema(url),
  )
  const there = await databaseTables.columns()
  await databaseTables.close()

  const shared = PORTABLE_TABLES.map(({ name }) => name).filter((name) => there.has(name))
  expect(shared.length).toBeGreaterThan(10)
  expect(shared.map((name) => [name, here.get(name)])).toEqual(shared.map((name) => [name, there.get(name)]))
})

test('an outdated schema is named, and migrated', async () => {
  const refused = await runHere(['serve', '--data-dir', dataDir, '--migrate', 'never', '--port', '0'])
  const isUntouched = !existsSync(dataDir) || readdirSync(dataDir).length === 0
  const first = await run('migrate', '--database', url, '--json')
  const second = await run('migrate', '--database', url)

  expect(refused.stderr).toContain(`there is no data in ${dataDir}, and this release needs schema`)
  expect(isUntouched).toBe(true)
  expect(JSON.parse(first)).toMatchObject({ from: 0 })
  expect(second).toContain('there was nothing to do')
})
