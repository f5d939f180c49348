import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hashKey, mintKey } from '../../server/domain/apiKeys.ts'
import { systemEnvironment } from '../../server/process/systemEnvironment.ts'
import { openStore } from '../../server/store/sqlite/openStore.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import type { Target } from './createLoad.ts'
import type { InsertRates } from './inserts.ts'
import type { LoadReport } from './load.ts'
import { bundle } from './processes.ts'
import { CLIENTS, CREATES_PER_KEY, ROUNDS, type Row } from './row.ts'

/** Settings of a measurement. */
interface Course {
  /** File of the program; the built one when absent. */
  readonly program?: string
  /** Number of creates in one round, enough for at least one checkpoint of the log. */
  readonly creates: number
  /** Number of warm-up creates for the compiler. */
  readonly warmUp: number
}

const TOGETHER: Course = { creates: 8_000, warmUp: 8_000 }
const APART = { creates: 2_000, warmUp: 4_000 }

/** Number of spare keys for each used-up key, because no client creates exactly its share. */
const SPARE = 2

/** Number of keys of an organisation, which has a limit (Gap G31). */
const KEYS_PER_ORG = 500

/** Delay added to each flush: about that of ordinary cloud disks (microseconds). */
const SLOWER_MICROS = 1_000
// The kernel filter stops a process only at its flushes.
const SLOWER = [
  ...['strace', '-D', '-f', '-qq', '-o', '/dev/null', '--seccomp-bpf'],
  ...['-e', 'trace=fsync,fdatasync', '-e', `inject=fsync,fdatasync:delay_enter=${SLOWER_MICROS}`],
]

const run = promisify(execFile)

/**
 * Compares durable creates over HTTP with the same creates with a flush each: the same clients and server, with limiter
 * and authentication, but without shared commits. Also compares the store without HTTP, both ways.
 */
export async function durableCreates(): Promise<readonly Row[]> {
  const inserts = await measureInserts()
  return [...(await compare('', [])), togetherRow(inserts)]
}

/**
 * The same on a disk whose flush takes a millisecond longer, simulated with `strace`. Without strace nothing is
 * measured.
 */
export async function slowDurableCreates(): Promise<readonly Row[]> {
  const label = `with each flush ${SLOWER_MICROS / 1_000} ms slower: `
  if (!(await canSlowDown())) {
    process.stdout.write(`not measured, for want of strace: durable creates ${label}\n`)
    return []
  }
  return compare(label, SLOWER)
}

async function canSlowDown(): Promise<boolean> {
  const [command = '', ...args] = [...SLOWER, 'true']
  return run(command, args).then(
    () => true,
    () => false,
  )
}

async function compare(label: string, under: readonly string[]): Promise<readonly Row[]> {
  const program = await bundle(new URL('./oneFlushEach.ts', import.meta.url))
  const apart = await measureServer({ ...APART, program }, under)
  const together = await measureServer(TOGETHER, under)
  const ratio = together.requestsPerSecond / apart.requestsPerSecond
  const errors = together.errors + apart.errors
  const rate = ({ requestsPerSecond }: LoadReport) => `${Math.round(requestsPerSecond)}/s`
  return [
    {
      what: `${label}durable creates, ${CLIENTS} clients, against the same with one flush each`,
      measured: `${ratio.toFixed(2)} × (${rate(together)} against ${rate(apart)}, ${errors} errors)`,
      bar: '≥ 5 ×',
      holds: ratio >= 5 && errors === 0,
    },
    {
      what: `${label}durable creates, 99 of 100 within`,
      measured: `${together.p99Ms.toFixed(1)} ms (half within ${together.p50Ms.toFixed(1)} ms)`,
      bar: '≤ 50 ms',
      holds: together.p99Ms <= 50,
    },
  ]
}

function togetherRow({ oneByOne, bare, together }: InsertRates): Row {
  const ratio = together / oneByOne
  return {
    what: `without HTTP: ${CLIENTS} creates that wait together, against one awaited after another`,
    measured: `${ratio.toFixed(2)} × (${Math.round(together)}/s against ${Math.round(oneByOne)}/s; bare statements ${Math.round(bare)}/s)`,
    bar: '≥ 5 ×',
    holds: ratio >= 5,
  }
}

async function measureInserts(): Promise<InsertRates> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bench-'))
  const dataDir = join(folder, 'data')
  await makeKeys(dataDir, 0)
  const program = await bundle(new URL('./inserts.ts', import.meta.url))
  const { stdout } = await run(process.execPath, [program, dataDir])
  await rm(folder, { recursive: true })
  // True because inserts.ts prints only this.
  return JSON.parse(stdout) as InsertRates
}

async function measureServer(
  { program, creates, warmUp }: Course,
  under: readonly string[],
): Promise<LoadReport> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-bench-'))
  const dataDir = join(folder, 'data')
  const keys = await makeKeys(dataDir, Math.ceil((warmUp + ROUNDS * creates) / CREATES_PER_KEY) * SPARE)
  // Checks of so many services would compute more than their creates.
  const server = await startProcess(dataDir, ['--monitor', 'off'], {
    under,
    ...(program === undefined ? {} : { program }),
  })
  const load = await startLoad({ port: Number(new URL(server.url).port), keys })
  await load.create(warmUp)
  const reports: LoadReport[] = []
  for (let round = 0; round < ROUNDS; round += 1) reports.push(await load.create(creates))
  load.stop()
  await server.stop()
  await rm(folder, { recursive: true })
  return best(reports)
}

/** Starts the clients in a separate process. */
async function startLoad(target: Target) {
  const child = fork(await bundle(new URL('./createLoad.ts', import.meta.url)))
  child.send(target)
  return {
    create: async (requests: number): Promise<LoadReport> => {
      const reply = once(child, 'message')
      child.send(requests)
      const [report]: LoadReport[] = await reply
      if (report === undefined) throw new Error('the load ended')
      return report
    },
    stop: () => child.disconnect(),
  }
}

function best(reports: readonly LoadReport[]): LoadReport {
  const [first] = reports.toSorted((a, b) => b.requestsPerSecond - a.requestsPerSecond)
  if (first === undefined) throw new Error('nothing was measured')
  return { ...first, errors: reports.reduce((sum, { errors }) => sum + errors, 0) }
}

async function makeKeys(dataDir: string, count: number): Promise<readonly string[]> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const orgIds = Array.from({ length: Math.ceil(count / KEYS_PER_ORG) || 1 }, () => crypto.randomUUID())
  for (const id of orgIds) {
    await store.createOrg({ id, name: 'Bench', plan: 'enterprise', nowMs: Date.now() })
    await store.overrideLimits(id, { servicesMax: 10_000_000, endpointsMax: 10_000_000 })
  }
  const keys = Array.from({ length: count }, () => mintKey(systemEnvironment))
  await Promise.all(
    keys.map((key, index) =>
      store.createKey({
        id: crypto.randomUUID(),
        // True because there are as many organisations as the keys need.
        orgId: orgIds[Math.floor(index / KEYS_PER_ORG)] as string,
        scope: 'read_write',
        hash: hashKey(key),
        last4: key.slice(-4),
        createdBy: null,
        note: null,
        by: { kind: 'cli' },
        nowMs: 0,
      }),
    ),
  )
  await store.close()
  return keys
}
