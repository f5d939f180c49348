/**
 * CPU time of the server and of its database, on PostgreSQL and on SQLite, for each result that eight agents deliver
 * over HTTP at a steady 20,000 results a second. One batch in ten is sent twice, and must be stored once. Exits with 1
 * when the number of results in the database differs from the number acknowledged. Linux only, because it reads /proc.
 *
 * node --import tsx bench/postgres/agentResults.ts; BENCH_RESULTS_SECS is the time for each database, 20 by default.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpsLink } from '../../monitoring/agent/httpsLink.ts'
import { buildPrograms } from '../../scripts/build.mjs'
import { hashKey, mintKey } from '../../server/domain/apiKeys.ts'
import { REGIONS } from '../../server/domain/regions.ts'
import { monotonicMs, systemEnvironment } from '../../server/process/systemEnvironment.ts'
import { openResults } from '../../server/results/file/openResults.ts'
import { openPostgresResults } from '../../server/results/postgres/postgresResults.ts'
import type { Engine } from '../../server/store/engine.ts'
import { postgresEngine } from '../../server/store/postgres/postgresEngine.ts'
import { sqliteEngine } from '../../server/store/sqlite/sqliteEngine.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { runHere } from '../../server/testing/commandHere.ts'
import { startCluster } from '../../server/testing/postgres/cluster.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { Asker } from '../monitoring/asker.ts'
import { cpuMicrosOf } from './cpuOf.ts'

const SECS = Number(process.env.BENCH_RESULTS_SECS ?? 20)
/** The agent of each region reports every endpoint once a second. */
const [SERVICES, ENDPOINTS] = [25, 100]
const BATCH = 500
const RATE = REGIONS.length * SERVICES * ENDPOINTS
/** One batch out of this many is sent twice. */
const TWICE = 10
/** Longer than any run, so that nothing is due. */
const RARELY_S = 86_400
/** Time until a server has noticed new agents (milliseconds). */
const REGIONS_SEEN_MS = 4_000
/** Number of requests that a key may send at once. */
const CREATES_PER_KEY = 15

interface Side {
  readonly name: string
  readonly engine: Engine
  readonly flags: readonly string[]
  /** Process of the database; absent when it is inside the server. */
  readonly databasePid?: number
}

/** Creates services that every region monitors. */
async function makeServices({ engine }: Side, apiUrl: string): Promise<void> {
  const store = await engine.open('administer')
  const orgId = crypto.randomUUID()
  await store.createOrg({ id: orgId, name: 'Bench', plan: 'enterprise', nowMs: Date.now() })
  await store.overrideLimits(orgId, { endpointsMax: 1_000_000, serviceEndpointsMax: ENDPOINTS })
  const keys = await Promise.all(
    Array.from({ length: Math.ceil(SERVICES / CREATES_PER_KEY) }, async () => {
      const key = mintKey(systemEnvironment)
      await store.createKey({
        ...{ id: crypto.randomUUID(), orgId, scope: 'read_write', hash: hashKey(key), last4: key.slice(-4) },
        ...{ createdBy: null, note: null, by: { kind: 'cli' }, nowMs: 0 },
      })
      return key
    }),
  )
  await store.close()
  for (let made = 0; made < SERVICES; made += 1) {
    const endpoints = Array.from({ length: ENDPOINTS }, (_, index) =>
      endpointBody({ url: `http://127.0.0.1:9/${made}/${index}` }),
    )
    const body = serviceBody({ interval_secs: RARELY_S, regions: REGIONS.map(({ code }) => code), endpoints })
    const api = apiClient(apiUrl, keys[Math.floor(made / CREATES_PER_KEY)] ?? '')
    const { status, text } = await api.post('/v1/services', body)
    if (status !== 201) throw new Error(text)
  }
}

/** Creates a token for each region. */
async function makeTokens({ flags }: Side): Promise<readonly string[]> {
  const tokens: string[] = []
  for (const { code } of REGIONS) {
    const { stdout } = await runHere([
      'agent',
      'create',
      ...flags.slice(0, 2),
      '--region',
      code,
      '--name',
      'bench',
      '--json',
    ])
    tokens.push(JSON.parse(stdout).token)
  }
  return tokens
}

/**
 * Delivers results for SECS. Resolves with the number of stored results, and of repeated results that were stored
 * again.
 */
async function deliver(askers: readonly Asker[]): Promise<{ stored: number; again: number }> {
  const startedMs = performance.now()
  // Due now: results of a compacted hour would be late, which takes queries for each.
  const firstS = Math.floor(Date.now() / 1_000)
  let [stored, again, sent] = [0, 0, 0]
  await Promise.all(
    askers.map(async (asker) => {
      for (let second = 0; second < SECS; second += 1) {
        for (let at = 0; at < asker.series.length; at += BATCH) {
          const dueMs = startedMs + second * 1_000 + (at * 1_000) / asker.series.length
          if (dueMs > performance.now()) await sleep(dueMs - performance.now())
          const batch = asker.series.slice(at, at + BATCH)
          const taken = await asker.report(batch, firstS + second)
          stored += taken
          sent += 1
          if (sent % TWICE !== 0) continue
          const takenAgain = await asker.report(batch, firstS + second)
          again += takenAgain
        }
      }
    }),
  )
  return { stored, again }
}

/** Number of results in the database: unpacked ones, and those of packed hours. */
function countIn(engine: Engine): number {
  const { results } = engine
  const database =
    'dataDir' in results
      ? openResults(results.dataDir, false).database
      : openPostgresResults({ url: results.databaseUrl, lease: null })
  const numberOf = (sql: string) => Number(database.prepare(sql).pluck().get())
  const count =
    numberOf('SELECT count(*) FROM log') +
    numberOf('SELECT count(*) FROM late') +
    numberOf('SELECT coalesce(sum(up + degraded + down), 0) FROM hours')
  database.close()
  return count
}

async function measure(side: Side): Promise<void> {
  const server = await startProcess(side.flags, [
    ...['--monitor', 'on', '--agent-port', '0', '--allow-ranges', '127.0.0.0/8'],
  ])
  const tokens = await makeTokens(side)
  const agents = /^agents on (\S+)$/m.exec(server.stdout())?.[1] ?? ''
  const askers = tokens.map((token) => new Asker(httpsLink({ server: new URL(agents), token }), () => {}))
  // Wait until the server leaves all regions to agents.
  await sleep(REGIONS_SEEN_MS)
  await makeServices(side, server.url)
  while (!askers.every(({ series }) => series.length === SERVICES * ENDPOINTS)) await sleep(100)
  const spent = () => ({
    server: cpuMicrosOf(server.child.pid ?? 0),
    database: side.databasePid === undefined ? 0 : cpuMicrosOf(side.databasePid),
    ms: performance.now(),
  })
  const before = spent()
  const { stored, again } = await deliver(askers)
  const after = spent()
  for (const asker of askers) asker.stop()
  await server.stop()
  const found = countIn(side.engine)
  const each = (from: number, to: number) => ((to - from) / stored).toFixed(1)
  const micros = after.server - before.server + after.database - before.database
  const secs = (after.ms - before.ms) / 1_000
  const isRight = again === 0 && stored === RATE * SECS && found === stored
  if (!isRight) process.exitCode = 1
  process.stdout.write(
    `${isRight ? 'ok   ' : 'WRONG'} ${side.name.padEnd(10)} ${stored} results in ${secs.toFixed(1)} s (${Math.round(stored / secs)}/s), ${found} in the database, ${again} stored twice: ` +
      `${each(before.server, after.server)} µs in the server, ${each(before.database, after.database)} µs in the database; ` +
      `20,000/s take ${((micros / stored) * 0.02).toFixed(2)} cores (limit for PostgreSQL 0.5)\n`,
  )
}

await buildPrograms((out: string) => out.startsWith('pharos-server'))
const folder = mkdtempSync(join(tmpdir(), 'pharos-agent-results-'))
// As docs/scaling.md recommends for so many results.
const cluster = await startCluster('full', [
  'max_wal_size=8GB',
  'checkpoint_timeout=15min',
  'shared_buffers=1GB',
])
const url = await cluster.createMigrated()
const [keyFile, urlFile, dataDir] = [join(folder, 'key'), join(folder, 'url'), join(folder, 'data')]
writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
writeFileSync(urlFile, url, { mode: 0o600 })
const { nowMs } = systemEnvironment
const socketFolder = new URL(url).searchParams.get('host') ?? ''
try {
  await measure({
    ...{ name: 'SQLite', engine: sqliteEngine(dataDir, nowMs) },
    flags: ['--data-dir', dataDir, '--master-key-file', keyFile],
  })
  await measure({
    ...{ name: 'PostgreSQL', engine: postgresEngine(url, { nowMs, monotonicMs }) },
    flags: ['--database-file', urlFile, '--master-key-file', keyFile],
    databasePid: Number(readFileSync(join(socketFolder, 'data/postmaster.pid'), 'utf8').split('\n')[0]),
  })
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true })
}
