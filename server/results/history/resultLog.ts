import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { RESULT_COLUMN_NAMES } from '../file/resultsSchema.ts'
import { ChunkTables } from './chunkTables.ts'
import { readFrontier } from './compaction.ts'
import { dueTimes } from './dueTimes.ts'
import type { OpenHours } from './openHours.ts'
import { inSlices, type Slices } from './slices.ts'
import { RESULT_COLUMNS, type SeriesResult, type StoredResult } from './storedResult.ts'

/** The log of results: results of open hours go to `log` and to memory, those of compacted hours to `late`. */
export class ResultLog {
  readonly openHours: OpenHours
  readonly #insert: Readonly<Record<'log' | 'late', ReturnType<ResultsDatabase['insertNew']>>>
  readonly #chunks: ChunkTables
  #frontierS: number
  #uncommitted: SeriesResult[] = []

  constructor(database: ResultsDatabase, openHours: OpenHours) {
    this.openHours = openHours
    this.#frontierS = readFrontier(database)
    this.#chunks = new ChunkTables(database)
    this.#insert = {
      log: database.insertNew('log', COLUMNS),
      // While an hour is compacted, its results are still in the log.
      late: database.insertNew('late', COLUMNS, 'log'),
    }
  }

  /** From now on, results due before `untilS` (seconds since the epoch) are late. */
  setFrontier(untilS: number): void {
    this.#frontierS = Math.max(untilS, this.#frontierS)
  }

  /** Stores results in the caller's transaction; returns whether each is new. */
  insert(results: readonly SeriesResult[]): readonly boolean[] {
    const [open, late] = [[] as SeriesResult[], [] as SeriesResult[]]
    for (const one of results) (one[1].dueS < this.#frontierS ? late : open).push(one)
    const inserted = new Set([
      ...newOf(open, this.#insert.log),
      ...newOf(this.#chunks.missing(late), this.#insert.late),
    ])
    this.#uncommitted.push(...open.filter((one) => inserted.has(one)))
    return results.map((one) => inserted.has(one))
  }

  /** Must be called after the transaction of the last inserts. */
  settle(isCommitted: boolean): void {
    const inserted = this.#uncommitted
    this.#uncommitted = []
    if (isCommitted) for (const [series, result] of inserted) this.openHours.add(series, result)
  }
}

/** The results that `insert` reports as new. */
function newOf(
  results: readonly SeriesResult[],
  insert: ReturnType<ResultsDatabase['insertNew']>,
): readonly SeriesResult[] {
  const isNew = insert(results.map(valuesOf))
  return results.filter((_, index) => isNew[index] === true)
}

const COLUMNS = ['series', 'due_s', ...RESULT_COLUMN_NAMES]

/** The values of COLUMNS. */
function valuesOf([series, r]: SeriesResult): readonly number[] {
  return [
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
  ]
}

/** Reads the log into `openHours`. Writes nothing. */
export function* loadLog(database: ResultsDatabase, openHours: OpenHours, nowMs: () => number): Slices {
  const ofSecond = database.prepare<[number], StoredResult & { readonly series: number }>(
    `SELECT series, ${RESULT_COLUMNS} FROM log WHERE due_s = ?`,
  )
  yield* inSlices(dueTimes(database, 0), nowMs, (dueS) => {
    for (const { series, ...result } of ofSecond.all(dueS)) openHours.add(series, result)
  })
}
