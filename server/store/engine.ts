import type { Finding } from './finding.ts'
import type { Portable } from './portable.ts'
import type { Store } from './store.ts'

/** Exclusive work on a store: one server, one rotation of its master key. */
export type LockName = 'serve' | 'rotation'

/** Where results are: in a file of a data folder, or in a PostgreSQL database, whose URL may have a password. */
export type ResultsPlace = { readonly dataDir: string } | { readonly databaseUrl: string }

/** The database of a program, independent of its kind. */
export interface Engine {
  /** Location of the data, for people; never a password. */
  readonly place: string
  readonly results: ResultsPlace
  /** Schema version of this release. */
  readonly schemaVersion: number
  /**
   * Whether a first start may create the master key. Not where several programs share a database: two first starts
   * would create two keys.
   */
  readonly makesMasterKeys: boolean
  /** Whether a database exists. Creates nothing. */
  exists(): Promise<boolean>
  /** Schema version of the database; `undefined` when there is none. Changes nothing. */
  schemaNow(): Promise<number | undefined>
  /**
   * Opens the store, created and migrated when needed. `serve` also checks the whole database for damage. Rejects when
   * the database is not durable, damaged, moved elsewhere, or of a newer release. Several programs may open the same store.
   */
  open(purpose: 'serve' | 'administer'): Promise<Store>
  /**
   * Findings about the durability of acknowledged changes; `whole` also reads every page of a file. Changes nothing.
   * Rejects when the database cannot be reached.
   */
  examine(depth: 'start' | 'whole'): Promise<readonly Finding[]>
  /** Takes the lock of this name; resolves to the function that releases it. Rejects at once when another program holds it. */
  lock(name: LockName): Promise<() => Promise<void>>
  /** Rejects when the data was moved to a place other than `except`. Changes nothing. */
  assertNotMoved(except?: string): Promise<void>
  /**
   * Resolves to the function that removes the files that were created since, unless there was a database. The caller
   * has both locks. In PostgreSQL it removes nothing: new tables stay empty.
   */
  removeNewFiles(): Promise<() => Promise<void>>
  /**
   * Opens the data to move it elsewhere or to move other data into it; created and migrated. The caller has both locks.
   * `results` is the file or the schema of the results, which exists; `null` leaves them out.
   */
  openPortable(role: 'source' | 'target', results: string | null): Promise<Portable>
}

/** Rejects when there is no database. */
export async function assertExists(engine: Engine): Promise<void> {
  if (!(await engine.exists()))
    throw new Error(
      `there is no data in ${engine.place}: correct the folder or the URL; "pharos-server org create" makes a new database`,
    )
}
