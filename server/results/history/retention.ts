import type { Retention } from '../../domain/historyPolicy.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { listChunkTables } from './chunkTables.ts'
import { removeRows } from './removal.ts'
import { inSlices, type Slices } from './slices.ts'
import { DAY_S, HOUR_S } from './storedResult.ts'

/** Retention of applied transitions (days). */
const TRANSITIONS_DAYS = 7
/** Retention of state changes and daily rollups (days). */
export const DAYS_KEPT = 3 * 365
/** Retention of a certificate after it was last seen (days): its host uses another one by then. */
const CERTIFICATES_DAYS = 1
/** Retention of a series after its end (days): results of its last checks are accepted until then. */
const ENDED_SERIES_DAYS = 7

/** Tables with the same retention for all organisations: rows with an older `column` are removed. */
const EXPIRING = [
  { table: 'spans', column: 'from_s', unitS: 1, days: DAYS_KEPT },
  { table: 'service_spans', column: 'from_s', unitS: 1, days: DAYS_KEPT },
  { table: 'endpoint_days', column: 'day', unitS: DAY_S, days: DAYS_KEPT },
  { table: 'service_days', column: 'day', unitS: DAY_S, days: DAYS_KEPT },
  { table: 'certificates', column: 'last_seen_s', unitS: 1, days: CERTIFICATES_DAYS },
  { table: 'series_states', column: 'ended_at_s', unitS: 1, days: ENDED_SERIES_DAYS },
] as const

/** Removes history that is older than its retention at `nowS`. */
export function* expire(
  database: ResultsDatabase,
  nowS: number,
  /** All series with history, and their retention. */
  series: Iterable<{ readonly number: number; readonly retention: Retention }>,
  { nowMs, appliedUpTo }: { readonly nowMs: () => number; readonly appliedUpTo: () => number },
): Slices {
  const lastS = nowS - TRANSITIONS_DAYS * DAY_S
  yield* removeRows(database, 'transitions', 'sequence <= ? AND at_s < ?', () => [appliedUpTo(), lastS])
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
  for (const { table, column, unitS, days } of EXPIRING) {
    const before = Math.floor((nowS - days * DAY_S) / unitS)
    yield* removeRows(database, table, `${column} < ?`, () => [before])
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

/** Removes states that begin after `untilS`: they are of a clock that was ahead, and would hide later ones. */
export function* removeAhead(database: ResultsDatabase, untilS: number): Slices {
  for (const table of ['spans', 'service_spans']) {
    yield* removeRows(database, table, 'from_s > ?', () => [untilS])
  }
}
