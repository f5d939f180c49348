/** A value of a row, spelled as SQLite does: 0 and 1 for booleans, text for ids, JSON for lists. */
export type PortableValue = string | number | null | Buffer
export type PortableRow = readonly PortableValue[]

/** Rows of a table in batches, in the order of its key. */
export type RowBatches = AsyncIterable<readonly PortableRow[]>

/** A selection of a table of a store. */
export interface TableColumns {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns that order its rows; texts by their bytes. */
  readonly key: readonly string[]
}

/** A database with no other program in it, read or written as a whole. Nothing is written until `commit`. */
export interface Portable {
  /** Columns of each of its tables, as all kinds of database spell them, in the order of their names. */
  readonly columns: () => Promise<ReadonlyMap<string, readonly string[]>>
  readonly count: (table: string) => Promise<number>
  readonly exportRows: (table: TableColumns) => RowBatches
  readonly importRows: (table: TableColumns, rows: RowBatches) => Promise<void>
  readonly clear: (table: string) => Promise<void>
  /** Computes what only this kind of database stores, from the imported rows. */
  readonly complete: () => Promise<void>
  readonly commit: () => Promise<void>
  /**
   * Makes every later `open` of this store reject with the place to which its data went; `null` takes that back. Effective
   * at once, whatever `commit` does.
   */
  readonly markMoved: (place: string | null) => Promise<void>
  /** Ends; what was not committed is undone. */
  readonly close: () => Promise<void>
}

/** The error of a program that opens a store whose data went to `place`. Pure. */
export function movedError(from: string, place: string, remedy: string): Error {
  return new Error(
    `the data of ${from} was moved to ${place}: use that one. If the move did not finish, repeat it; to use this one again, ${remedy}`,
  )
}
