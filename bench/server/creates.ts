import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hashKey, mintKey } from '../../server/domain/apiKeys.ts'
import { openStore } from '../../server/store/openStore.ts'
import { systemEnvironment } from '../../server/systemEnvironment.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import type { InsertRates } from './inserts.ts'
import { type LoadReport, runLoad } from './load.ts'
import { bundle } from './processes.ts'
import { CLIENTS, ROUNDS, type Row } from './row.ts'

/** Creates of one round: enough for the log to be copied into the database once at least. */
const CREATES = 8_000
/** Creates before the first that counts, for the compiler to have seen everything. */
const WARM_UP = 8_000
/** Creates that one key is used for: below the burst, so that nothing is refused. */
const CREATES_PER_KEY = 16
/** Keys for each that is used up, because no client makes exactly its share. */
const SPARE = 2

/** By how much each flush is drawn out: to about what ordinary disks of a cloud take (microseconds). */
const SLOWER_MICROS = 1_000
// The filter in the kernel stops a process at its flushes and nowhere else.
const SLOWER = [
  ...['strace', '-D', '-f', '-qq', '-o', '/dev/null', '--seccomp-bpf'],
  ...['-e', 'trace=fsync,fdatasync', '-e', `inject=fsync,fdatasync:delay_enter=${SLOWER_MICROS}`],
]

const run = promisify(execFile)

/** Durable creates over HTTP against the same ones with a flush each, limiter and authentication on. */
export async function durableCreates(): Promise<readonly Row[]> {
  const inserts = await measureInserts([])
  const report = await measureServer([])
  return [...rowsOf('', report, inserts), togetherRow(inserts)]
}

/** The same on a disk whose flush takes a millisecond longer; `strace` makes it so, and without it nothing is measured. */
export async function slowDurableCreates(): Promise<readonly Row[]> {
  const label = `with each flush ${SLOWER_MICROS / 1_000} ms slower: `
  if (!(await canSlowDown())) {
    process.stdout.write(`not measured, for want of strace: durable creates ${label}\n`)
    return []
  }
  const inserts = await measureInserts(SLOWER)
  return rowsOf(label, await measureServer(SLOWER), inserts)
}

async function canSlowDown(): Promise<boolean> {
  const [command = '', ...args] = [...SLOWER, 'true']
  return run(command, args).then(
    () => true,
    () => false,
  )
}

function rowsOf(label: string, report: LoadReport, { oneByOne, bare }: InsertRates): readonly Row[] {
  const ratio = report.requestsPerSecond / oneByOne
  const each = `${Math.round(oneByOne)}/s, one each ${(1_000 / oneByOne).toFixed(2)} ms`
  const ofBare = `${(report.requestsPerSecond / bare).toFixed(2)} × the ${Math.round(bare)}/s of bare statements`
  return [
    {
      what: `${label}durable creates, ${CLIENTS} clients, against the same in the store with one flush each`,
      measured: `${ratio.toFixed(2)} × (${Math.round(report.requestsPerSecond)}/s against ${each}; ${ofBare}; ${report.errors} errors)`,
      bar: '≥ 5 ×',
      holds: ratio >= 5 && report.errors === 0,
    },
    {
      what: `${label}durable creates, 99 of 100 within`,
      measured: `${report.p99Ms.toFixed(1)} ms (half within ${report.p50Ms.toFixed(1)} ms)`,
      bar: '≤ 50 ms',
      holds: report.p99Ms <= 50,
    },
  ]
}

function togetherRow({ oneByOne, together }: InsertRates): Row {
  const ratio = together / oneByOne
  return {
    what: `the store alone, ${CLIENTS} creates that wait together, against the same`,
    measured: `${ratio.toFixed(2)} × (${Math.round(together)}/s)`,
    bar: '≥ 5 ×',
    holds: ratio >= 5,
  }
}

async function measureInserts(under: readonly string[]): Promise<InsertRates> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bench-'))
  const dataDir = join(folder, 'data')
  await makeKeys(dataDir, 0)
  const [command = '', ...args] = [
    ...under,
    process.execPath,
    await bundle(new URL('./inserts.ts', import.meta.url)),
    dataDir,
  ]
  const { stdout } = await run(command, args)
  await rm(folder, { recursive: true })
  // True because inserts.ts prints nothing else.
  return JSON.parse(stdout) as InsertRates
}

async function measureServer(under: readonly string[]): Promise<LoadReport> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bench-'))
  const dataDir = join(folder, 'data')
  const keys = await makeKeys(dataDir, Math.ceil((WARM_UP + ROUNDS * CREATES) / CREATES_PER_KEY) * SPARE)
  const server = await startProcess(dataDir, [], { under })
  const port = Number(new URL(server.url).port)
  const request = requestsOf(keys)
  await runLoad({ port, connections: CLIENTS, requests: WARM_UP, request })
  const reports: LoadReport[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    reports.push(await runLoad({ port, connections: CLIENTS, requests: CREATES, request }))
  }
  await server.stop()
  await rm(folder, { recursive: true })
  return best(reports)
}

function best(reports: readonly LoadReport[]): LoadReport {
  const [first] = reports.toSorted((a, b) => b.requestsPerSecond - a.requestsPerSecond)
  if (first === undefined) throw new Error('nothing was measured')
  return { ...first, errors: reports.reduce((sum, { errors }) => sum + errors, 0) }
}

/** Creates; each client uses one key after another, and nobody else's. */
function requestsOf(keys: readonly string[]): (index: number, client: number) => string {
  const body = JSON.stringify(serviceBody())
  const made = new Map<number, number>()
  return (_index, client) => {
    const before = made.get(client) ?? 0
    made.set(client, before + 1)
    const key = keys[Math.floor(before / CREATES_PER_KEY) * CLIENTS + client]
    return `POST /v1/services HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
}

async function makeKeys(dataDir: string, count: number): Promise<readonly string[]> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const orgId = crypto.randomUUID()
  await store.createOrg({ id: orgId, name: 'Bench', plan: 'enterprise', nowMs: Date.now() })
  await store.overrideLimits(orgId, { servicesMax: 10_000_000, endpointsMax: 10_000_000 })
  const keys = Array.from({ length: count }, () => mintKey(systemEnvironment))
  await Promise.all(
    keys.map((key) =>
      store.createKey({
        id: crypto.randomUUID(),
        orgId,
        scope: 'read_write',
        hash: hashKey(key),
        last4: key.slice(-4),
        createdBy: null,
        nowMs: 0,
      }),
    ),
  )
  await store.close()
  return keys
}
