import type { Database } from 'better-sqlite3'
import { ChunkTables } from './chunkTables.ts'
import { readFrontier } from './compaction.ts'
import { dueTimes } from './dueTimes.ts'
import type { OpenHours } from './openHours.ts'
import { inSlices, type Slices } from './slices.ts'
import { hourOf, RESULT_COLUMNS, type StoredResult } from './storedResult.ts'

/** The log of results: new ones go to `log` and to memory, those of compacted hours to `late`. */
export class ResultLog {
  readonly openHours: OpenHours
  readonly #isInLog: (series: number, dueS: number) => boolean
  readonly #insert: Readonly<Record<'log' | 'late', (series: number, result: StoredResult) => boolean>>
  readonly #chunks: ChunkTables
  #frontierS: number
  #uncommitted: [series: number, result: StoredResult][] = []

  constructor(database: Database, openHours: OpenHours) {
    this.openHours = openHours
    this.#frontierS = readFrontier(database)
    this.#chunks = new ChunkTables(database)
    this.#insert = { log: prepareInsert(database, 'log'), late: prepareInsert(database, 'late') }
    const find = database.prepare('SELECT 1 FROM log WHERE due_s = ? AND series = ?')
    this.#isInLog = (series, dueS) => find.get(dueS, series) !== undefined
  }

  /** Results due before `untilS` (seconds since the epoch) are late from now on. */
  setFrontier(untilS: number): void {
    this.#frontierS = Math.max(untilS, this.#frontierS)
  }

  /** Stores a result in the transaction of the caller; whether it is new. */
  insert(series: number, result: StoredResult): boolean {
    const { dueS } = result
    if (dueS < this.#frontierS) {
      const isKnown = this.#isInLog(series, dueS) || this.#isInChunk(series, dueS)
      return !isKnown && this.#insert.late(series, result)
    }
    const isNew = this.#insert.log(series, result)
    if (isNew) this.#uncommitted.push([series, result])
    return isNew
  }

  /** To be called when the transaction of the last inserts ended. */
  settle(isCommitted: boolean): void {
    const inserted = this.#uncommitted
    this.#uncommitted = []
    if (isCommitted) for (const [series, result] of inserted) this.openHours.add(series, result)
  }

  #isInChunk(series: number, dueS: number): boolean {
    return this.#chunks.results(series, hourOf(dueS)).some((result) => result.dueS === dueS)
  }
}

/** Binds by position: names take twice as long, and this is done for every result. */
function prepareInsert(
  database: Database,
  table: 'log' | 'late',
): (series: number, result: StoredResult) => boolean {
  const statement = database.prepare<number[]>(
    `INSERT INTO ${table} (series, due_s, generation, outcome, reason, status, attempts, flags, late_ms, total_us, dns_us,
       connect_us, tls_us, wait_us, body_us, failed_assertions, first_reason, first_total_us)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  return (series, r) =>
    statement.run(
      series,
      r.dueS,
      r.generation,
      r.outcome,
      r.reason,
      r.status,
      r.attempts,
      r.flags,
      r.lateMs,
      r.totalUs,
      r.dnsUs,
      r.connectUs,
      r.tlsUs,
      r.waitUs,
      r.bodyUs,
      r.failed,
      r.firstReason,
      r.firstTotalUs,
    ).changes > 0
}

/** Reads the log into `openHours`. Writes nothing. */
export function* loadLog(database: Database, openHours: OpenHours, nowMs: () => number): Slices {
  const ofSecond = database.prepare<[number], StoredResult & { readonly series: number }>(
    `SELECT series, ${RESULT_COLUMNS} FROM log WHERE due_s = ?`,
  )
  yield* inSlices(dueTimes(database, 0), nowMs, (dueS) => {
    for (const { series, ...result } of ofSecond.all(dueS)) openHours.add(series, result)
  })
}
