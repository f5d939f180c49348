import type { Retention } from '../../domain/historyPolicy.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { listChunkTables } from './chunkTables.ts'
import { inSlices, type Slices, whileFull } from './slices.ts'
import { DAY_S, HOUR_S } from './storedResult.ts'

/** Retention of applied transitions (days). */
const TRANSITIONS_DAYS = 7
/** Retention of state changes and daily rollups (days). */
const DAYS_DAYS = 3 * 365
/** Retention of a certificate after it was last seen (days): its host uses another one by then. */
const CERTIFICATES_DAYS = 1
/** Retention of a series after its end (days): results of its last checks are accepted until then. */
const ENDED_SERIES_DAYS = 7
/** Rows removed in one slice. */
const SLICE_ROWS = 2_000

/** Tables with the same retention for all organisations: rows with an older `column` are removed. */
const EXPIRING = [
  { table: 'spans', key: 'endpoint, from_s', column: 'from_s', unitS: 1, days: DAYS_DAYS },
  { table: 'service_spans', key: 'service_id, from_s', column: 'from_s', unitS: 1, days: DAYS_DAYS },
  { table: 'endpoint_days', key: 'endpoint, day', column: 'day', unitS: DAY_S, days: DAYS_DAYS },
  { table: 'service_days', key: 'service_id, day', column: 'day', unitS: DAY_S, days: DAYS_DAYS },
  {
    table: 'certificates',
    key: 'org_id, host, port, fingerprint',
    column: 'last_seen_s',
    unitS: 1,
    days: CERTIFICATES_DAYS,
  },
  { table: 'series_states', key: 'series', column: 'ended_at_s', unitS: 1, days: ENDED_SERIES_DAYS },
] as const

/** Removes history that is older than its retention at `nowS`. */
export function* expire(
  database: ResultsDatabase,
  nowS: number,
  /** All series with history, and their retention. */
  series: Iterable<{ readonly number: number; readonly retention: Retention }>,
  { nowMs, appliedUpTo }: { readonly nowMs: () => number; readonly appliedUpTo: () => number },
): Slices {
  const removeTransitions = database.prepare(
    `DELETE FROM transitions WHERE sequence IN
       (SELECT sequence FROM transitions WHERE sequence <= ? AND at_s < ? LIMIT ${SLICE_ROWS})`,
  )
  yield* whileFull(
    SLICE_ROWS,
    () => removeTransitions.run(appliedUpTo(), nowS - TRANSITIONS_DAYS * DAY_S).changes,
  )
  for (const { name, retentionDays, day } of listChunkTables(database)) {
    if ((day + 1 + retentionDays) * DAY_S > nowS) continue
    yield () => {
      database.exec(`DROP TABLE ${name}`)
    }
  }
  const removeHours = database.prepare('DELETE FROM hours WHERE series = ? AND hour < ?')
  const removeDetails = database.prepare('DELETE FROM details WHERE series = ? AND due_s < ?')
  yield* inSlices(series, nowMs, ({ number, retention }) => {
    removeHours.run(number, Math.floor((nowS - retention.hoursDays * DAY_S) / HOUR_S))
    removeDetails.run(number, nowS - retention.resultsDays * DAY_S)
  })
  for (const { table, key, column, unitS, days } of EXPIRING) {
    const remove = database.prepare(
      `DELETE FROM ${table} WHERE (${key}) IN
         (SELECT ${key} FROM ${table} WHERE ${column} < ? LIMIT ${SLICE_ROWS})`,
    )
    yield* whileFull(SLICE_ROWS, () => remove.run(Math.floor((nowS - days * DAY_S) / unitS)).changes)
  }
  // With NOT IN, PostgreSQL compares every pair of rows once the certificates exceed its work_mem.
  const removeLinks = database.prepare(
    `DELETE FROM certificate_endpoints AS o WHERE NOT EXISTS
       (SELECT 1 FROM certificates c WHERE c.org_id = o.org_id AND c.host = o.host AND c.port = o.port)`,
  )
  yield () => {
    removeLinks.run()
  }
}
