import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { seriesNumber } from '../../domain/regions.ts'
import { monotonicMs } from '../../process/systemEnvironment.ts'
import { openResults } from '../../results/file/openResults.ts'
import { prepareSchema } from '../../results/postgres/postgresResults.ts'
import { monitoredService, openedResults, STORE } from '../../results/testing/openedResults.ts'
import { batchOf, type TestResult } from '../../results/testing/resultMessages.ts'
import { postgresEngine } from '../../store/postgres/postgresEngine.ts'
import { connect, withConnection } from '../../store/postgres/schema/migrate.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { PROGRAM } from '../serverProcess.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'
import { durableDatabases } from './durableDatabases.ts'

const WAIT = { timeout: 60_000, interval: 50 }
const [MINUTE_S, HOUR_S, DAY_S] = [60, 60 * 60, 24 * 60 * 60]
/** The start of a day, and an hour whose seconds are counted. */
const START_S = (Math.floor(Date.now() / 1_000 / DAY_S) - 3) * DAY_S
const LATER_S = START_S + DAY_S + 30 * HOUR_S
/**
 * Packed results: those of three hours, and one of another hour. In addition, one arrived late and one is not packed
 * yet.
 */
const PACKED = 3 * 60 + 2
const NO_DETAIL = { failed: 0, expected: null, seen: null, first: null }

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

interface MovedTable {
  readonly table: string
  readonly rows: number
  readonly sha256: string
}

/** Moves the data. Resolves with the summary of the moved results. */
async function move(from: string, to: string): Promise<readonly MovedTable[]> {
  const { moved } = JSON.parse(await run('migrate', '--from', from, '--to', to, '--json'))
  return moved.filter(({ table }: MovedTable) => table.startsWith('results.'))
}

/** Fills a folder with a service and results of each kind; resolves to the id of the service. */
async function fill(): Promise<string> {
  const server = await startServer({ engine: 'sqlite', dataDir })
  const made = await apiClient(server.url, server.apiKey).post(
    '/v1/services',
    serviceBody({ regions: ['eu-west-1'], endpoints: [endpointBody()] }),
  )
  const { id, endpoints } = serviceResponseSchema.parse(made.json)
  await server.close()
  const maintenance = [{ serviceId: id, fromS: START_S, untilS: START_S + MINUTE_S }]
  const results = openedResults({ dataDir }, { maintenance })
  const numbered = endpoints.map((endpoint) => ({ number: 1, id: endpoint.id, timeoutMs: 10_000 }))
  results.update(
    [monitoredService(1, { id, orgId: server.orgId, endpoints: numbered, steadyS: 60 })],
    START_S,
  )
  const series = seriesNumber(1, 'eu-west-1')
  const at = (minute: number): TestResult => ({
    ...{ series, dueS: START_S + minute * MINUTE_S, totalUs: 40_000 + minute },
    ...(minute > 60 && minute < 70 ? { outcome: 'down' as const } : {}),
  })
  const minutes = Array.from({ length: 3 * 60 + 1 }, (_, minute) => minute)
  const details = [{ ...NO_DETAIL, series, due_s: START_S + 61 * MINUTE_S, text: 'timed out after 10 s' }]
  results.ingest([batchOf(STORE, minutes.map(at), details)], START_S + 3 * HOUR_S + 90)
  results.send([{ series, dueS: LATER_S - 2 * HOUR_S }], LATER_S - 2 * HOUR_S)
  results.keep(LATER_S)
  const newest = batchOf(
    STORE,
    [LATER_S - 3 * HOUR_S, LATER_S].map((dueS) => ({ series, dueS })),
  )
  const certificate = {
    ...{ series, host: 'shop.example', port: 443, fingerprint: 'first' },
    ...{ subject: 'CN=shop.example', issuer: 'CN=ca', serial: '01', not_before_ms: 0 },
    ...{ not_after_ms: (START_S + 90 * DAY_S) * 1_000, chain_not_after_ms: (START_S + 90 * DAY_S) * 1_000 },
  }
  results.ingest([{ ...newest, request: { ...newest.request, certificates: [certificate] } }], LATER_S)
  results.database.exec("INSERT INTO removals VALUES ('gone')")
  results.database.close()
  return id
}

/** The results of a service, without the slots that have none: there are more of these each minute. */
async function shown(serviceId: string, ...place: readonly string[]): Promise<readonly unknown[]> {
  const text = await run('results', ...place, '--service', serviceId, '--hours', '120', '--json')
  return JSON.parse(text).results.filter(({ outcome }: { outcome: string }) => outcome !== 'unknown')
}

test('damaged results are not moved, and are left behind on request; those of the target stay', async () => {
  const id = await fill()
  const { database } = openResults(dataDir, false)
  for (const name of database.tablesWith('chunks_')) database.exec(`UPDATE ${name} SET results = x'0180'`)
  database.close()
  const refused = await runHere(['migrate', '--from', dataDir, '--to', url])
  const moved = JSON.parse(
    await run('migrate', '--from', dataDir, '--to', url, '--without', 'results', '--json'),
  )
  const nothing = await shown(id, '--database', url)
  const other = join(folder, 'other')
  mkdirSync(other)
  const unrelated = openResults(other, false).database
  unrelated.exec("INSERT INTO removals VALUES ('kept')")
  const onto = await runHere(['migrate', '--from', url, '--to', other])
  const kept = unrelated.prepare('SELECT * FROM removals').all()
  unrelated.close()

  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a chunk of results is truncated'),
  })
  expect(moved.moved.some(({ table }: MovedTable) => table.startsWith('results.'))).toBe(false)
  expect(nothing).toEqual([])
  expect(onto).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${other} already has data (results.removals)`),
  })
  expect(kept).toEqual([{ service_id: 'kept' }])
})

test('results move with their store to a database and to a folder, even after a killed move', async () => {
  const id = await fill()
  const before = await shown(id, '--data-dir', dataDir)
  await run('migrate', '--database', url)
  const schema = prepareSchema(url)
  await killWhile(['--from', dataDir, '--to', url], `LOCK TABLE ${schema}.transitions IN SHARE MODE`)
  const left = await withConnection(url, (client) =>
    client.query('SELECT id::text FROM orgs UNION ALL SELECT service_id FROM pharos_results.service_now'),
  )
  const used = await runHere(['org', 'list', '--data-dir', dataDir])
  // As if it had been killed between its mark and its commit.
  const { place } = postgresEngine(url, { nowMs: Date.now, monotonicMs })
  writeFileSync(join(dataDir, 'moved'), `${place}\n`)
  const marked = await runHere(['org', 'list', '--data-dir', dataDir])
  const there = await move(dataDir, url)
  const between = await shown(id, '--database', url)
  const back = join(folder, 'back')
  await killWhile(['--from', url, '--to', back], `LOCK TABLE ${schema}.transitions`)
  // As if it had been killed between its two commits: results are in the folder, and no definitions.
  const interrupted = openResults(back, false).database
  interrupted.exec(`INSERT INTO meta VALUES ('unfinished move', ''); INSERT INTO removals VALUES ('other')`)
  interrupted.transact(() => interrupted.createChunkTable('chunks_7_1'))
  interrupted.close()
  const again = await move(url, back)

  expect(left.rows).toEqual([])
  expect(used.code).toBe(0)
  expect(marked.stderr).toContain('If the move did not finish, repeat it')
  expect(before).toHaveLength(PACKED + 2)
  expect(between).toEqual(before)
  expect(await shown(id, '--data-dir', back)).toEqual(before)
  expect(there.filter(({ rows }) => rows === 0)).toEqual([])
  expect(there.find(({ table }) => table === 'results.chunks')?.rows).toBe(PACKED)
  expect(again).toEqual(there)
})

/** Kills a move that waits for the lock which `statement` takes; resolves when the database has noticed. */
async function killWhile(args: readonly string[], statement: string): Promise<void> {
  const [blocker, watcher] = [await connect(url, 'blocker'), await connect(url, 'watcher')]
  const waiting = async () => {
    const { rows } = await watcher.query<{ pid: number; isWaiting: boolean }>(
      `SELECT pid, wait_event_type = 'Lock' AS "isWaiting" FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'pharos-server%'`,
    )
    return rows
  }
  await blocker.query(`BEGIN; ${statement}`)
  const child = spawn(process.execPath, [PROGRAM, 'migrate', ...args], { stdio: 'ignore' })
  await vi.waitUntil(async () => (await waiting()).some(({ isWaiting }) => isWaiting), WAIT)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await blocker.end()
  await vi.waitUntil(async () => (await waiting()).length === 0, WAIT)
  await watcher.end()
}
