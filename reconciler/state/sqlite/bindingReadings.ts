import type { Binding } from '../../plan/binding.ts'
import type { Database } from './openDatabase.ts'
import { ROWS } from './sqliteRows.ts'

/**
 * Bindings as they were last read. A controller's run reads all of them and seldom changes one, so they are parsed again
 * only after this connection, or another one, wrote.
 */
export class BindingReadings {
  readonly #database: Database
  #last: { readonly version: unknown; readonly bindings: readonly Binding[] } | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Throws a ZodError where a row is not ours. */
  read(): readonly Binding[] {
    // It changes with each commit of another connection, and with none of this one.
    const version = this.#database.pragma('data_version', { simple: true })
    if (this.#last !== null && this.#last.version === version) return this.#last.bindings
    const bindings = ROWS.bindings.records(this.#database.prepare('SELECT * FROM binding ORDER BY key').all())
    this.#last = { version, bindings }
    return bindings
  }

  /** For every write of this connection to the table. */
  forget(): void {
    this.#last = null
  }
}
