import type { Transition } from '../store/monitoringStore.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'

/** Maximum number of transitions in one response. */
const TRANSITIONS_MAX = 500
/** Selects the sequence up to which transitions belong to another store. */
const FOREIGN = "SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'transitions of other stores'"

/**
 * Marks the transitions in `database` as those of another store, in the caller's transaction. A restored backup does
 * not have the incidents that they opened: applied again, they would reopen incidents that were resolved long ago.
 * Recoveries are reported again, because open incidents of the backup wait for them.
 */
export function disownTransitions(database: ResultsDatabase): void {
  database.exec(
    `INSERT INTO meta (key, value)
       SELECT 'transitions of other stores', CAST(coalesce(max(sequence), 0) AS TEXT) FROM transitions WHERE true
       ON CONFLICT (key) DO UPDATE SET value = excluded.value;
     UPDATE service_watches SET clear_since_s = NULL, is_steady = 0`,
  )
}

/** Prepares reading the transitions of this store. */
export function prepareTransitions(database: ResultsDatabase) {
  const after = database.prepare<[number], Transition>(
    `SELECT sequence, at_s AS "atS", service_id AS "serviceId", kind, body FROM transitions
     WHERE sequence > ? AND sequence > coalesce((${FOREIGN}), 0) ORDER BY sequence LIMIT ${TRANSITIONS_MAX}`,
  )
  const newest = database
    .prepare<[], number>(
      `SELECT coalesce(max(sequence), 0) FROM transitions WHERE sequence > coalesce((${FOREIGN}), 0)`,
    )
    .pluck()
  return {
    /** A page of transitions after `sequence`, in order. */
    after: (sequence: number): readonly Transition[] => after.all(sequence),
    /** Sequence of the newest one; 0 when there is none. */
    newest: (): number => newest.get() ?? 0,
  }
}
