import type { Binding } from '../../plan/binding.ts'
import type { Database } from './openDatabase.ts'
import { type Prepare, ROWS } from './sqliteRows.ts'

/**
 * A cache of the bindings. A cycle of a controller reads all of them and seldom changes one, so they are parsed again
 * only after `forget`, which every write of this connection to the table calls, or a write of another connection.
 * `read` throws a ZodError for an invalid row.
 */
export function bindingReadings(database: Database, prepare: Prepare) {
  let last: { readonly version: unknown; readonly bindings: readonly Binding[] } | null = null
  return {
    read: (): readonly Binding[] => {
      // It changes with commits of other connections only.
      const version = database.pragma('data_version', { simple: true })
      if (last === null || last.version !== version)
        last = { version, bindings: ROWS.bindings.records(prepare) }
      return last.bindings
    },
    forget: () => {
      last = null
    },
  }
}
