/**
 * Measures storing and reading of results, compared with the simple way, rows keyed by series and time. The ratios
 * apply to any machine, the rest only to this one. B8: ingest with compaction; B9: the queries of a service's page.
 *
 * Run with `node --import tsx bench/monitoring/results.ts`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { seriesNumber } from '../../server/domain/regions.ts'
import { monitoredService, openedResults } from '../../server/results/testing/openedResults.ts'
import { resultRow, type TestResult } from '../../server/results/testing/resultMessages.ts'

const REGIONS = ['eu-west-1', 'eu-central-1', 'us-east-1']
const HOUR_S = 3_600
/** A midnight. */
const START_S = 20_800 * 24 * HOUR_S
/** Number of rows in one commit, as in the results thread. */
const COMMIT_ROWS = 1_000
/** B8: endpoints with one check a minute in three regions, and the time for which they are checked. */
const INGEST = { services: 100, endpoints: 10, hours: 2 }
/** Minutes that are added to an equally full baseline, which writes so much that hours would take too long. */
const BASELINE_MINUTES = 15
/** B9: a page shows one of these services. */
const PAGES = { services: 10, endpoints: 10, hours: 24 }
const PAGE_VIEWS = 100
const DAYS = 90
const P99 = 0.99

type Opened = ReturnType<typeof openedResults>
type Size = typeof INGEST

const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-results-'))
for (const name of ['ingest', 'pages']) mkdirSync(join(folder, name))

/** The services of a size, with consecutively numbered endpoints. */
const servicesOf = ({ services, endpoints }: Size) =>
  Array.from({ length: services }, (_, index) => {
    const numbers = Array.from({ length: endpoints }, (_, at) => index * endpoints + at + 1)
    return monitoredService(index + 1, {
      regions: REGIONS,
      endpoints: numbers.flatMap((number) => monitoredService(number).endpoints),
    })
  })

/** The results of a minute of every series, spread over its seconds. */
function minuteOf({ services, endpoints }: Size, minute: number): TestResult[] {
  return Array.from({ length: services * endpoints }, (_, index) =>
    REGIONS.map((region, at) => ({
      series: seriesNumber(index + 1, region),
      dueS: START_S + 60 * minute + ((index * 7 + at) % 60),
      totalUs: 20_000 + ((index * 7_919 + minute * 104_729) % 60_000),
    })),
  )
    .flat()
    .sort((a, b) => a.dueS - b.dueS || a.series - b.series)
}

/** Bytes that this process has written; `null` when the system does not report it. */
function writtenBytes(): number | null {
  try {
    return Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
  } catch {
    return null
  }
}

const usedBytes = (database: Database): number =>
  (Number(database.pragma('page_count', { simple: true })) -
    Number(database.pragma('freelist_count', { simple: true }))) *
  Number(database.pragma('page_size', { simple: true }))

/** Runs `work`. Returns its duration and the bytes written meanwhile. */
function measure(work: () => void): { readonly ms: number; readonly bytes: number | null } {
  const before = writtenBytes()
  const startMs = performance.now()
  work()
  const ms = performance.now() - startMs
  const after = writtenBytes()
  return { ms, bytes: before === null || after === null ? null : after - before }
}

/** Ingests a size as the thread does, including upkeep. Returns the longest work between two commits (milliseconds). */
function ingest(opened: Opened, size: Size): number {
  opened.update(servicesOf(size), START_S)
  let longestMs = 0
  for (let minute = 0; minute < size.hours * 60; minute += 1) {
    const results = minuteOf(size, minute)
    for (let at = 0; at < results.length; at += COMMIT_ROWS) {
      const { ms } = measure(() => {
        opened.send(results.slice(at, at + COMMIT_ROWS), START_S + 60 * (minute + 1))
      })
      longestMs = Math.max(longestMs, ms)
    }
    if (minute % 60 === 6) longestMs = Math.max(longestMs, opened.keepTimed(START_S + 60 * minute))
  }
  return Math.max(longestMs, opened.keepTimed(START_S + (size.hours + 1) * HOUR_S))
}

/** Rows keyed by series and time, with the same durability and commits. */
function openBaseline(name: string): Database {
  const database = new Sqlite(join(folder, name))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('wal_autocheckpoint = 4000')
  database.pragma('cache_size = -32768')
  const columns = Array.from({ length: 13 }, (_, index) => `c${index} INTEGER NOT NULL`).join(', ')
  database.exec(
    `CREATE TABLE results (series INTEGER NOT NULL, generation INTEGER NOT NULL, due_s INTEGER NOT NULL, ${columns},
       PRIMARY KEY (series, due_s)) STRICT, WITHOUT ROWID`,
  )
  return database
}

/** Inserts results into the baseline in commits of `commitRows`. */
function insertBaseline(database: Database, results: readonly TestResult[], commitRows = COMMIT_ROWS): void {
  const insert = database.prepare(
    `INSERT INTO results VALUES (${Array.from({ length: 16 }, () => '?').join(', ')}) ON CONFLICT DO NOTHING`,
  )
  const commit = database.transaction((part: readonly TestResult[]) => {
    for (const result of part) insert.run(...resultRow(result), 0)
  })
  for (let at = 0; at < results.length; at += commitRows) commit(results.slice(at, at + commitRows))
}

/** Fills the baseline with `hours` of a size, quickly: in the order of its key. */
function fillBaseline(database: Database, size: Size, hours: number): void {
  const results = Array.from({ length: hours * 60 }, (_, minute) => minuteOf(size, minute)).flat()
  insertBaseline(
    database,
    results.sort((a, b) => a.series - b.series || a.dueS - b.dueS),
    results.length,
  )
  database.pragma('wal_checkpoint(TRUNCATE)')
}

function row(name: string, value: string, bar = ''): void {
  process.stdout.write(`${name.padEnd(44)} ${value.padStart(24)}  ${bar}\n`)
}

const bytesOf = (bytes: number | null, rows: number): string =>
  bytes === null ? 'unknown' : `${(bytes / rows).toFixed(0)} B`

function benchIngest(): void {
  const rows = INGEST.services * INGEST.endpoints * REGIONS.length * INGEST.hours * 60
  const opened = openedResults(join(folder, 'ingest'), {}, () => performance.now())
  let longestMs = 0
  const ours = measure(() => {
    longestMs = ingest(opened, INGEST)
  })
  const keptBytes = opened.sqlite === undefined ? 0 : usedBytes(opened.sqlite)
  opened.database.close()
  const baseline = openBaseline('baseline.db')
  fillBaseline(baseline, INGEST, INGEST.hours)
  const more = Array.from({ length: BASELINE_MINUTES }, (_, minute) =>
    minuteOf(INGEST, INGEST.hours * 60 + minute),
  ).flat()
  const theirs = measure(() => insertBaseline(baseline, more))
  const baselineKept = usedBytes(baseline)
  baseline.close()
  const perSecond = (count: number, ms: number): number => Math.round((count / ms) * 1_000)
  const ratio = ours.ms / rows / (theirs.ms / more.length)
  row(
    'B8 ingest with compaction and rollups',
    `${perSecond(rows, ours.ms).toLocaleString('en')} rows/s`,
    '≥ 20,000',
  )
  row('B8 time a row, against rows by series', `${ratio.toFixed(2)} ×`)
  row('B8 written a row', bytesOf(ours.bytes, rows), '≤ 1,024 B')
  row('B8 written a row by the baseline', bytesOf(theirs.bytes, more.length))
  row('B8 kept a row, states and rollups included', bytesOf(keptBytes, rows), '≤ 30 B after a day')
  row('B8 kept a row by the baseline', bytesOf(baselineKept, rows + more.length))
  row('B8 longest pause of ingest', `${longestMs.toFixed(1)} ms`, '≤ 50 ms')
}

/** Median and 99th percentile of durations. */
function quantiles(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b)
  const at = (q: number): string => (sorted[Math.ceil(q * sorted.length) - 1] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(P99)} ms`
}

async function benchPages(): Promise<void> {
  const opened = openedResults(join(folder, 'pages'), {}, () => performance.now())
  ingest(opened, PAGES)
  const nowS = START_S + PAGES.hours * HOUR_S
  const services = servicesOf(PAGES)
  const addDay = opened.database.prepare(
    'INSERT OR REPLACE INTO service_days VALUES (?, ?, 86000, 0, 400, 0, 0, 0)',
  )
  for (const { id } of services) {
    for (let day = 1; day <= DAYS; day += 1) addDay.run(id, START_S / (24 * HOUR_S) - day)
  }
  opened.database
    .prepare("INSERT OR REPLACE INTO meta VALUES ('days before', ?)")
    .run(String(START_S / (24 * HOUR_S)))
  const baseline = openBaseline('pages.db')
  fillBaseline(baseline, PAGES, PAGES.hours)
  const measurements = opened.measurements(nowS)
  const select = baseline.prepare(
    'SELECT due_s, c6 FROM results WHERE series = ? AND due_s >= ? AND due_s < ?',
  )
  const [pages, baselinePages, days, fromDay]: [number[], number[], number[], string] = [
    [],
    [],
    [],
    dayOf(nowS - DAYS * 86_400),
  ]
  const timed = async (into: number[], work: () => unknown): Promise<void> => {
    const startMs = performance.now()
    await work()
    into.push(performance.now() - startMs)
  }
  for (let view = 0; view < PAGE_VIEWS; view += 1) {
    const service = services[view % services.length] ?? services[0]
    if (service === undefined) return
    await timed(pages, () =>
      Promise.all([
        ...service.endpoints.map(({ id }) =>
          measurements.latency({ endpointId: id, fromS: nowS - 24 * HOUR_S, untilS: nowS, stepS: 300 }),
        ),
        measurements.timeline(service.id, nowS - 24 * HOUR_S, nowS),
      ]),
    )
    await timed(baselinePages, () =>
      service.endpoints.map(({ number }) =>
        REGIONS.map((region) => select.all(seriesNumber(number, region), nowS - 24 * HOUR_S, nowS)),
      ),
    )
    await timed(days, () => measurements.days([service.id], fromDay, dayOf(nowS)))
  }
  const deletions: number[] = []
  for (const { id } of services) await timed(deletions, () => opened.update([], nowS, [id]))
  row('B9 24 h of 10 endpoints × 3 regions', quantiles(pages), 'p99 ≤ 50 ms')
  row('B9 the rows of the same, by series', quantiles(baselinePages))
  row('B9 90 days of a service', quantiles(days), 'p99 ≤ 10 ms')
  row('B9 a deletion, until it is invisible', quantiles(deletions), 'p99 ≤ 20 ms')
  opened.database.close()
  baseline.close()
}

function dayOf(atS: number): string {
  return new Date(atS * 1_000).toISOString().slice(0, 10)
}

process.stdout.write(
  `Node ${process.version}; ${INGEST.services * INGEST.endpoints} endpoints × ${REGIONS.length} regions × 60 s\n`,
)
try {
  benchIngest()
  await benchPages()
} finally {
  rmSync(folder, { recursive: true })
}
