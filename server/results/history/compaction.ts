import { prepareMeta, readMeta } from '../database/meta.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { type ChunkKey, ChunkTables } from './chunkTables.ts'
import { dueTimes } from './dueTimes.ts'
import { rollUp } from './hourRollup.ts'
import { prepareHourRows } from './hourRows.ts'
import type { OpenHours } from './openHours.ts'
import { inSlices, type Slices, whileFull } from './slices.ts'
import { HOUR_S, hourOf, RESULT_COLUMNS, type StoredResult } from './storedResult.ts'

/** Delay after the end of an hour before it is compacted (seconds): the results of its last checks arrive until then. */
const SETTLE_S = 5 * 60
/** Chunks read and merged at once. */
const CHUNKS_AT_ONCE = 50
/** Late results read at once. */
const LATE_RESULTS_MAX = 1_000

/** Results of a series in an hour, ordered by due time. */
interface HourResults extends ChunkKey {
  readonly results: readonly StoredResult[]
}

/** Dependencies of a compaction. */
export interface CompactionParts {
  readonly database: ResultsDatabase
  readonly openHours: OpenHours
  /** Retention of the results of a series (days); `undefined` for a removed series. */
  readonly retentionDaysOf: (series: number) => number | undefined
  /** Called when results before this instant (seconds since the epoch) belong in `late` from now on. */
  readonly onFrontier: (untilS: number) => void
  /** A monotonic clock (milliseconds). */
  readonly nowMs: () => number
}

/**
 * Moves the results of each ended hour from the log to chunks and hourly rollups, then merges late results. Every step
 * is idempotent: a run after an interruption has the same outcome.
 */
export function* compact(parts: CompactionParts, nowS: number): Slices {
  const { database, openHours, retentionDaysOf, onFrontier, nowMs } = parts
  const chunks = new ChunkTables(database)
  const hours = prepareHourRows(database)
  const putMeta = prepareMeta(database)
  const removeFromLog = database.prepare('DELETE FROM log WHERE due_s = ?')

  const store = (given: readonly HourResults[]): void => {
    chunks.prefetch(given)
    for (const { series, hour, results } of given) {
      const retentionDays = retentionDaysOf(series)
      if (retentionDays === undefined || results.length === 0) continue
      hours.put(series, hour, rollUp(chunks.merge({ series, hour }, results, retentionDays)))
    }
  }

  const ended = hourOf(nowS - SETTLE_S)
  for (const hour of openHours.hours.filter((each) => each < ended)) {
    const untilS = (hour + 1) * HOUR_S
    // From now on, the hour gets no more results in the log or in memory.
    yield () => {
      putMeta('compacted before', String(Math.max(untilS, readFrontier(database))))
      onFrontier(untilS)
    }
    yield* inSlices(groupsOf(openHours.seriesOf(hour), CHUNKS_AT_ONCE), nowMs, (group) => {
      store(group.map((series) => ({ series, hour, results: openHours.results(series, hour) })))
    })
    yield* inSlices(dueTimes(database, hour * HOUR_S, untilS), nowMs, (dueS) => {
      removeFromLog.run(dueS)
    })
    openHours.dropHour(hour)
  }
  yield* mergeLate(database, store)
}

function* groupsOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[], void> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}

/** Results due before this instant belong in `late` (seconds since the epoch); 0 before the first compaction. */
export function readFrontier(database: ResultsDatabase): number {
  return Number(readMeta(database, 'compacted before') ?? 0)
}

function* mergeLate(database: ResultsDatabase, store: (results: readonly HourResults[]) => void): Slices {
  const read = database.prepare<[number, number], StoredResult & { readonly series: number }>(
    `SELECT series, ${RESULT_COLUMNS} FROM late WHERE (series, due_s) > (?, ?) ORDER BY series, due_s
     LIMIT ${LATE_RESULTS_MAX}`,
  )
  const remove = database.prepare<[number, number, number, number]>(
    'DELETE FROM late WHERE (series, due_s) > (?, ?) AND (series, due_s) <= (?, ?)',
  )
  // Reading on from here, PostgreSQL does not search the removed rows again.
  let merged: readonly [series: number, dueS: number] = [0, 0]
  yield* whileFull(1, () => {
    const late: (HourResults & { readonly results: StoredResult[] })[] = []
    let next = merged
    for (const { series, ...result } of read.all(...merged)) {
      const [last, hour] = [late.at(-1), hourOf(result.dueS)]
      if (last?.series === series && last.hour === hour) last.results.push(result)
      else if (late.length < CHUNKS_AT_ONCE) late.push({ series, hour, results: [result] })
      else break
      next = [series, result.dueS]
    }
    store(late)
    remove.run(...merged, ...next)
    merged = next
    return late.length
  })
}
