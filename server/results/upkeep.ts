import type { Database } from 'better-sqlite3'
import type { StateBoard } from './stateBoard.ts'

const DAY_S = 24 * 60 * 60
/** Retention of results and details (seconds). */
export const RESULTS_RETENTION_S = 7 * DAY_S
/** Retention of transitions (seconds): they were applied long before. */
const TRANSITIONS_RETENTION_S = 7 * DAY_S
/** Retention of state changes (seconds). */
const SPANS_RETENTION_S = 3 * 365 * DAY_S
/** Retention of a certificate after its last sighting (seconds). */
const CERTIFICATES_RETENTION_S = 7 * DAY_S
/** Rows of one slice; ingest runs between slices. */
const SLICE_ROWS = 2_000

/** Tables with a retention: rows whose `column` is older are removed by `key`, the primary key. */
const EXPIRING = [
  { table: 'log', key: 'due_s, series', column: 'due_s', retentionS: RESULTS_RETENTION_S },
  { table: 'transitions', key: 'sequence', column: 'at_s', retentionS: TRANSITIONS_RETENTION_S },
  { table: 'details', key: 'series, due_s', column: 'due_s', retentionS: RESULTS_RETENTION_S },
  { table: 'spans', key: 'endpoint, from_s', column: 'from_s', retentionS: SPANS_RETENTION_S },
  { table: 'service_spans', key: 'service_id, from_s', column: 'from_s', retentionS: SPANS_RETENTION_S },
  {
    table: 'certificates',
    key: 'org_id, host, port, fingerprint',
    column: 'last_seen_s',
    retentionS: CERTIFICATES_RETENTION_S,
  },
  { table: 'series_states', key: 'series', column: 'ended_at_s', retentionS: RESULTS_RETENTION_S },
] as const

/** A part of the upkeep that runs in a transaction of the caller. */
export type Slice = () => void

/**
 * The upkeep of the results at `nowS`, in slices of a few milliseconds each: removes expired rows and writes `last_due_s` of
 * each series, so that a start reads only the newest part of the log.
 */
export function* upkeep(database: Database, board: StateBoard, nowS: number): Generator<Slice, void> {
  for (const { table, key, column, retentionS } of EXPIRING) {
    const remove = database.prepare(
      `DELETE FROM ${table} WHERE (${key}) IN
         (SELECT ${key} FROM ${table} WHERE ${column} < ? LIMIT ${SLICE_ROWS})`,
    )
    let removed = SLICE_ROWS
    while (removed === SLICE_ROWS) {
      yield () => {
        removed = remove.run(nowS - retentionS).changes
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
