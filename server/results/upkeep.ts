import type { Database } from 'better-sqlite3'
import type { StateBoard } from './stateBoard.ts'

const DAY_S = 24 * 60 * 60
/** Time for which results and texts are kept (seconds). */
export const RESULTS_KEPT_S = 7 * DAY_S
/** Time for which transitions are kept: they were applied long before (seconds). */
const TRANSITIONS_KEPT_S = 7 * DAY_S
/** Time for which changes of states are kept (seconds). */
const SPANS_KEPT_S = 3 * 365 * DAY_S
/** Time for which a certificate is kept that is not shown any more (seconds). */
const CERTIFICATES_KEPT_S = 7 * DAY_S
/** Rows of one slice: between slices results are taken. */
const SLICE_ROWS = 2_000

/** What is removed: rows of a table whose column is older. Keys are those of WITHOUT ROWID tables. */
const FORGOTTEN = [
  { table: 'log', key: 'due_s, series', column: 'due_s', keptS: RESULTS_KEPT_S },
  { table: 'transitions', key: 'sequence', column: 'at_s', keptS: TRANSITIONS_KEPT_S },
  { table: 'details', key: 'series, due_s', column: 'due_s', keptS: RESULTS_KEPT_S },
  { table: 'spans', key: 'endpoint, from_s', column: 'from_s', keptS: SPANS_KEPT_S },
  { table: 'service_spans', key: 'service_id, from_s', column: 'from_s', keptS: SPANS_KEPT_S },
  {
    table: 'certificates',
    key: 'org_id, host, port, fingerprint',
    column: 'last_seen_s',
    keptS: CERTIFICATES_KEPT_S,
  },
  { table: 'series_states', key: 'series', column: 'ended_at_s', keptS: RESULTS_KEPT_S },
] as const

/** A slice of upkeep, in the caller's transaction. */
export type Slice = () => void

/**
 * The upkeep of the results at `nowS`, in slices that each take some milliseconds: what is too old goes, and when the newest
 * result of each series was due is written, so that a start need not read everything.
 */
export function* upkeep(database: Database, board: StateBoard, nowS: number): Generator<Slice, void> {
  for (const { table, key, column, keptS } of FORGOTTEN) {
    const remove = database.prepare(
      `DELETE FROM ${table} WHERE (${key}) IN
         (SELECT ${key} FROM ${table} WHERE ${column} < ? LIMIT ${SLICE_ROWS})`,
    )
    let removed = SLICE_ROWS
    while (removed === SLICE_ROWS) {
      yield () => {
        removed = remove.run(nowS - keptS).changes
      }
    }
  }
  const series = board.seriesNumbers()
  for (let at = 0; at < series.length; at += SLICE_ROWS) {
    yield () => board.writeSeries(series.slice(at, at + SLICE_ROWS))
  }
  const mark = database.prepare("INSERT OR REPLACE INTO meta VALUES ('series written at', ?)")
  yield () => {
    mark.run(String(nowS))
  }
}
