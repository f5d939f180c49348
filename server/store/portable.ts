/** A value of a row, in SQLite's form: 0 and 1 for booleans, text for ids, JSON for lists. */
export type PortableValue = string | number | null | Buffer
export type PortableRow = readonly PortableValue[]

/** Rows of a table in batches, in the order of its key. */
export type RowBatches = AsyncIterable<readonly PortableRow[]>

/** What precedes the names of tables of results, which have a place of their own beside the store. */
export const RESULTS_PREFIX = 'results.'

/** A selection of a table of a store. */
export interface TableColumns {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns that order its rows; texts by their bytes. */
  readonly key: readonly string[]
  /** Condition on the rows that move; all of them when absent. */
  readonly where?: string | undefined
}

/** A database that no other program uses, read or written as a whole. Nothing is written before `commit`. */
export interface Portable {
  /** Column names of each table that every kind of database has, ordered by name. */
  readonly columns: () => Promise<ReadonlyMap<string, readonly string[]>>
  readonly count: (table: string, where?: string) => Promise<number>
  readonly exportRows: (table: TableColumns) => RowBatches
  readonly importRows: (table: TableColumns, rows: RowBatches) => Promise<void>
  readonly clear: (table: string) => Promise<void>
  /** Creates a table of packed results. */
  readonly createChunkTable: (table: string) => Promise<void>
  /** Computes the columns that only this kind of database has, from the imported rows. */
  readonly complete: () => Promise<void>
  readonly commit: () => Promise<void>
  /**
   * Makes every later `open` of this store reject with the place of its moved data; `null` undoes this. Takes effect at
   * once, regardless of `commit`.
   */
  readonly markMoved: (place: string | null) => Promise<void>
  /** Closes the database; without `commit`, nothing was written. */
  readonly close: () => Promise<void>
}

/** The error for opening a store whose data was moved to `place`. Pure. */
export function movedError(from: string, place: string, remedy: string): Error {
  return new Error(
    `the data of ${from} was moved to ${place}: use that one. If the move did not finish, repeat it; to use this one again, ${remedy}`,
  )
}
