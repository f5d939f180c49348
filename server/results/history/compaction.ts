import { prepareMeta, readMeta } from '../database/meta.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { CHUNKS_AT_ONCE, ChunkTables } from './chunkTables.ts'
import { dueTimes } from './dueTimes.ts'
import { rollUp } from './hourRollup.ts'
import { prepareHourRows } from './hourRows.ts'
import type { OpenHours } from './openHours.ts'
import { inSlices, type Slices } from './slices.ts'
import { HOUR_S, hourOf, RESULT_COLUMNS, type StoredResult } from './storedResult.ts'

/** Delay after the end of an hour before it is compacted (seconds): the results of its last checks arrive until then. */
const SETTLE_S = 5 * 60
/** Late hours merged before the list is read again. */
const LATE_HOURS_MAX = 500

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

  const store = (series: number, hour: number, results: readonly StoredResult[]): void => {
    const retentionDays = retentionDaysOf(series)
    if (retentionDays === undefined || results.length === 0) return
    hours.put(series, hour, rollUp(chunks.merge({ series, hour }, results, retentionDays)))
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
      chunks.prefetch(group, hour)
      for (const series of group) store(series, hour, openHours.results(series, hour))
    })
    yield* inSlices(dueTimes(database, hour * HOUR_S, untilS), nowMs, (dueS) => {
      removeFromLog.run(dueS)
    })
    openHours.dropHour(hour)
  }
  yield* mergeLate(database, nowMs, store)
}

function* groupsOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[], void> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}

/** Results due before this instant belong in `late` (seconds since the epoch); 0 before the first compaction. */
export function readFrontier(database: ResultsDatabase): number {
  return Number(readMeta(database, 'compacted before') ?? 0)
}

function* mergeLate(
  database: ResultsDatabase,
  nowMs: () => number,
  store: (series: number, hour: number, results: readonly StoredResult[]) => void,
): Slices {
  const select = database.prepare<[], { series: number; hour: number }>(
    `SELECT DISTINCT series, due_s / ${HOUR_S} AS hour FROM late LIMIT ${LATE_HOURS_MAX}`,
  )
  const range = `WHERE series = ? AND due_s >= ? AND due_s < ?`
  const results = database.prepare<[number, number, number], StoredResult>(
    `SELECT ${RESULT_COLUMNS} FROM late ${range} ORDER BY due_s`,
  )
  const remove = database.prepare(`DELETE FROM late ${range}`)
  for (;;) {
    const lateHours = select.all()
    if (lateHours.length === 0) return
    yield* inSlices(lateHours, nowMs, ({ series, hour }) => {
      const ofHour = [series, hour * HOUR_S, (hour + 1) * HOUR_S] as const
      store(series, hour, results.all(...ofHour))
      remove.run(...ofHour)
    })
  }
}
