import type { Store } from './store.ts'

/** Exclusive work on a store: one server, one rotation of its master key. */
export type LockName = 'serve' | 'rotation'

/** The database that a program keeps its data in. Everything that only one kind of database has stays behind it. */
export interface Engine {
  /** Where the data is, for people; never a password. */
  readonly place: string
  /** Version of the schema that this release makes. */
  readonly schemaVersion: number
  /** Whether there is a database already. Makes nothing. */
  exists(): Promise<boolean>
  /**
   * Opens the store, made and migrated when needed. `serve` also checks the whole database for damage. Rejects when the
   * database is not durable, damaged, or of a newer release. Several programs may have the same store open.
   */
  open(purpose: 'serve' | 'administer'): Promise<Store>
  /** Takes the lock of this name; resolves to the function that releases it. Rejects at once when another program holds it. */
  lock(name: LockName): Promise<() => Promise<void>>
}
