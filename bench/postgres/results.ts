/**
 * Cost of results on PostgreSQL and on SQLite: CPU time of the thread that stores them and of the database for each
 * result that changes no state, the rate, and the time of the upkeep that packs an hour; then, against the time of results
 * in order, that of results of a packed hour, new and repeated, and of an outage of all targets. There is one writer with batches of 1,000, as in a
 * server. Linux only, because it reads /proc.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BATCH_RESULTS_MAX } from '../../monitoring/protocol/messages.ts'
import { seriesNumber } from '../../server/domain/regions.ts'
import { monitoredService, openedResults, STORE } from '../../server/results/testing/openedResults.ts'
import { batchOf, detailOf } from '../../server/results/testing/resultMessages.ts'
import { startCluster } from '../../server/testing/postgres/cluster.ts'
import { cpuMicrosOf } from './cpuOf.ts'

const SERVICES = 2_000
const REGIONS = ['eu-west-1', 'eu-central-1', 'us-east-1']
const MINUTES = 20
/** Minutes of the packed hour that arrive late, and that arrive again. */
const LATE_MINUTES = 2
/** Start of an hour in 2027. */
const START_S = 1_800_000_000

const services = Array.from({ length: SERVICES }, (_, index) =>
  monitoredService(index + 1, { regions: REGIONS }),
)
const resultsOf = (minute: number) =>
  services.flatMap((_, index) =>
    REGIONS.map((region) => ({
      series: seriesNumber(index + 1, region),
      dueS: START_S + 60 * minute + (index % 60),
    })),
  )

/** Measures the results in `place`. `databasePid` is the process of the database; `undefined` for a file. */
function measure(
  name: string,
  place: string | { readonly databaseUrl: string },
  databasePid: number | undefined,
) {
  const opened = openedResults(place, {}, () => performance.now())
  opened.update(services, START_S)
  // The first results change states.
  opened.send(resultsOf(0), START_S + 60)
  const databaseMicros = () => (databasePid === undefined ? 0 : cpuMicrosOf(databasePid))
  const before = { own: process.cpuUsage(), database: databaseMicros(), ms: performance.now() }
  for (let minute = 1; minute <= MINUTES; minute += 1)
    opened.send(resultsOf(minute), START_S + 60 * (minute + 1))
  const secs = (performance.now() - before.ms) / 1_000
  const { user, system } = process.cpuUsage(before.own)
  const rows = MINUTES * SERVICES * REGIONS.length
  const database = (databaseMicros() - before.database) / rows
  const upkeepMs = performance.now()
  opened.keep(START_S + 3 * 60 * 60)
  const packed = (performance.now() - upkeepMs) / (SERVICES * REGIONS.length)
  const [late, repeated] = [MINUTES + 1, 1].map((fromMinute) => {
    const ms = performance.now()
    for (let minute = fromMinute; minute < fromMinute + LATE_MINUTES; minute += 1)
      opened.send(resultsOf(minute), START_S + 3 * 60 * 60)
    return (performance.now() - ms) / (LATE_MINUTES * SERVICES * REGIONS.length)
  })
  const [begun, failing] = [0, 1].map((minute) => {
    const ms = performance.now()
    const down = resultsOf(150 + minute).map((each) => ({ ...each, outcome: 'down' as const }))
    const parts = Array.from({ length: Math.ceil(down.length / BATCH_RESULTS_MAX) }, (_, index) =>
      down.slice(index * BATCH_RESULTS_MAX, (index + 1) * BATCH_RESULTS_MAX),
    )
    opened.ingest(
      parts.map((part) => batchOf(STORE, part, part.map(detailOf))),
      START_S + 3 * 60 * 60,
    )
    return (performance.now() - ms) / (SERVICES * REGIONS.length)
  })
  const mergeMs = performance.now()
  opened.keep(START_S + 3 * 60 * 60)
  const merged = (performance.now() - mergeMs) / (SERVICES * REGIONS.length)
  const ratio = (ms = 0) => `${((ms * rows) / (1_000 * secs)).toFixed(1)} x`
  opened.database.close()
  console.log(
    `${name.padEnd(12)} ${String(Math.round(rows / secs)).padStart(8)} results/s ${((user + system) / rows).toFixed(1).padStart(6)} µs here ` +
      `${database.toFixed(1).padStart(6)} µs in the database ${packed.toFixed(2).padStart(6)} ms to pack an hour of a series`,
  )
  console.log(
    `${name.padEnd(12)} late: ${ratio(late)} the time of results in order, ${ratio(repeated)} when repeated; ${merged.toFixed(2)} ms to merge an hour of a series`,
  )
  console.log(
    `${name.padEnd(12)} failing: ${ratio(begun)} the time of results in order, and ${ratio(failing)} from the second minute on`,
  )
  return (user + system) / rows + database
}

const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-results-'))
const cluster = await startCluster('full')
const databaseUrl = await cluster.createEmpty()
const socketFolder = new URL(databaseUrl).searchParams.get('host') ?? ''
const pid = Number(readFileSync(join(socketFolder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
try {
  const sqlite = measure('SQLite', folder, undefined)
  const postgres = measure('PostgreSQL', { databaseUrl }, pid)
  console.log(
    `PostgreSQL: ${(postgres / sqlite).toFixed(1)} x the CPU time of SQLite; 20,000 results/s take ${((postgres * 20_000) / 1e6).toFixed(2)} cores`,
  )
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true })
}
