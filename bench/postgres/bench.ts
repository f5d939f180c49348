/**
 * Cost of a request on PostgreSQL and on SQLite: CPU time of the server and of the database for each create and each
 * read, over HTTP, with authentication and rate limit. Rates say little, because clients, server and database share
 * this machine. CPU time for each request shows how many cores a load needs. Linux only, because it reads /proc.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey, mintKey } from '../../server/domain/apiKeys.ts'
import { monotonicMs, systemEnvironment } from '../../server/process/systemEnvironment.ts'
import type { Engine } from '../../server/store/engine.ts'
import { postgresEngine } from '../../server/store/postgres/postgresEngine.ts'
import { sqliteEngine } from '../../server/store/sqlite/sqliteEngine.ts'
import { startCluster } from '../../server/testing/postgres/cluster.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { runLoad } from '../server/load.ts'
import { cpuMicrosOf } from './cpuOf.ts'

const CLIENTS = 32
/** Number of requests for each key, below the burst, so that nothing is refused. */
const REQUESTS_PER_KEY = 16
const ORGS = 32
const WARM_UP = 1_000
const REQUESTS = 1_200
/** Number of rounds; the cheapest counts, because other work on the machine only adds. */
const ROUNDS = 3

/** A database, and the processes to measure. */
interface Side {
  readonly name: 'SQLite' | 'PostgreSQL'
  readonly engine: Engine
  readonly flags: readonly string[]
  /** Process of the database; absent when it is inside the server. */
  readonly databasePid?: number
}

/** The cost of one request. */
interface Cost {
  readonly serverMicros: number
  readonly databaseMicros: number
  readonly perSecond: number
  readonly p99Ms: number
}

const { nowMs } = systemEnvironment
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-pg-'))
const cluster = await startCluster('full')
const url = await cluster.createEmpty()
const keyFile = join(folder, 'master.key')
writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
writeFileSync(join(folder, 'url'), url, { mode: 0o600 })
const socketFolder = new URL(url).searchParams.get('host') ?? ''
const dataDir = join(folder, 'data')
const common = ['--master-key-file', keyFile, '--monitor', 'off']
const sides: readonly Side[] = [
  {
    name: 'SQLite',
    engine: sqliteEngine(dataDir, nowMs),
    flags: ['--data-dir', dataDir, ...common],
  },
  {
    name: 'PostgreSQL',
    engine: postgresEngine(url, { nowMs, monotonicMs }),
    flags: ['--database-file', join(folder, 'url'), ...common],
    databasePid: Number(readFileSync(join(socketFolder, 'data/postmaster.pid'), 'utf8').split('\n')[0]),
  },
]

/** Creates `orgs` organisations with enough keys for all rounds. The keys of one organisation are consecutive. */
async function makeKeys(engine: Engine, orgs: number): Promise<readonly string[]> {
  const store = await engine.open('administer')
  const requests = WARM_UP + ROUNDS * REQUESTS
  const eachMin = Math.ceil((requests * 1.5) / REQUESTS_PER_KEY / CLIENTS) * (CLIENTS / orgs)
  const keys: string[] = []
  for (let org = 0; org < orgs; org += 1) {
    const orgId = crypto.randomUUID()
    await store.createOrg({ id: orgId, name: 'Bench', plan: 'enterprise', nowMs: Date.now() })
    await store.overrideLimits(orgId, { servicesMax: 10_000_000, endpointsMax: 10_000_000 })
    for (let made = 0; made < eachMin; made += 1) {
      const key = mintKey(systemEnvironment)
      keys.push(key)
      await store.createKey({
        ...{ id: crypto.randomUUID(), orgId, scope: 'read_write', hash: hashKey(key), last4: key.slice(-4) },
        ...{ createdBy: null, note: null, by: { kind: 'cli' }, nowMs: 0 },
      })
    }
  }
  await store.close()
  return keys
}

const body = JSON.stringify(serviceBody())
const head = (key: string, first: string) =>
  `${first} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n`
const create = (key: string) =>
  `${head(key, 'POST /v1/services')}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const read = (key: string) => `${head(key, 'GET /v1/org')}\r\n`

/**
 * The cost in the cheapest of several rounds of `request` on a new server of `side`, with keys of `orgs` organisations.
 */
async function measure(side: Side, orgs: number, request: (key: string) => string): Promise<Cost> {
  const keys = await makeKeys(side.engine, orgs)
  const share = keys.length / CLIENTS
  const server = await startProcess(side.flags)
  const sent = new Map<number, number>()
  const next = (_index: number, client: number): string => {
    const before = sent.get(client) ?? 0
    sent.set(client, before + 1)
    const key = keys[client * share + Math.floor(before / REQUESTS_PER_KEY)]
    if (key === undefined) throw new Error('too few keys')
    return request(key)
  }
  const load = { port: Number(new URL(server.url).port), connections: CLIENTS, request: next }
  const spent = () => ({
    server: cpuMicrosOf(server.child.pid ?? 0),
    database: side.databasePid === undefined ? 0 : cpuMicrosOf(side.databasePid),
  })
  await runLoad({ ...load, requests: WARM_UP })
  const costs: Cost[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = spent()
    const report = await runLoad({ ...load, requests: REQUESTS })
    const after = spent()
    if (report.errors > 0) throw new Error(`${side.name}: ${report.errors} requests failed`)
    costs.push({
      serverMicros: (after.server - before.server) / REQUESTS,
      databaseMicros: (after.database - before.database) / REQUESTS,
      perSecond: report.requestsPerSecond,
      p99Ms: report.p99Ms,
    })
  }
  await server.stop()
  const [cheapest] = costs.toSorted(
    (a, b) => a.serverMicros + a.databaseMicros - b.serverMicros - b.databaseMicros,
  )
  if (cheapest === undefined) throw new Error('nothing was measured')
  return cheapest
}

const write = (line: string) => process.stdout.write(`${line}\n`)
write(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.versions.node}, ${CLIENTS} clients`)
write('| request | database | server µs | database µs | requests/s | p99 ms |')
write('| --- | --- | --- | --- | --- | --- |')
const courses = [
  { what: `create, ${ORGS} organisations`, orgs: ORGS, request: create },
  { what: 'create, one organisation', orgs: 1, request: create },
  { what: 'read of the organisation', orgs: ORGS, request: read },
]
for (const { what, orgs, request } of courses) {
  for (const side of sides) {
    const { serverMicros, databaseMicros, perSecond, p99Ms } = await measure(side, orgs, request)
    const figures = [serverMicros, databaseMicros, perSecond, p99Ms].map((figure) => Math.round(figure))
    write(`| ${what} | ${side.name} | ${figures.join(' | ')} |`)
  }
}
await cluster.stop()
rmSync(folder, { recursive: true })
process.exit(0)
