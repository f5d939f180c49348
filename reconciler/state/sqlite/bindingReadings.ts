import type { Binding } from '../../plan/binding.ts'
import type { Database } from './openDatabase.ts'
import { ROWS } from './sqliteRows.ts'

/**
 * A cache of the bindings. A cycle of a controller reads all of them and seldom changes one, so they are parsed again only
 * after a write of this or another connection.
 */
export class BindingReadings {
  readonly #database: Database
  #last: { readonly version: unknown; readonly bindings: readonly Binding[] } | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Throws a ZodError for an invalid row. */
  read(): readonly Binding[] {
    // It changes with commits of other connections only.
    const version = this.#database.pragma('data_version', { simple: true })
    if (this.#last !== null && this.#last.version === version) return this.#last.bindings
    const bindings = ROWS.bindings.records(this.#database.prepare('SELECT * FROM binding ORDER BY key').all())
    this.#last = { version, bindings }
    return bindings
  }

  /** Called for every write of this connection to the table. */
  forget(): void {
    this.#last = null
  }
}
