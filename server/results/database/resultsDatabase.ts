/** The arguments of a statement: positional, or one object with names. */
type Arguments<Bind> = Bind extends readonly unknown[] ? Bind : readonly [Bind]

/** A prepared statement. */
export interface ResultsStatement<Given extends readonly unknown[], Row> {
  readonly get: (...given: Given) => Row | undefined
  readonly all: (...given: Given) => Row[]
  /** The write may be deferred to the next statement; reading `changes` executes it. */
  readonly run: (...given: Given) => { readonly changes: number }
  /** The same statement, returning its first column instead of rows. */
  readonly pluck: () => ResultsStatement<Given, Row>
}

/**
 * The database of results, with a blocking interface, for one thread. Its SQL is the common subset of SQLite and
 * PostgreSQL, with `?` and `@name` for values; integers have 64 bits, of which at most 53 are used.
 */
export interface ResultsDatabase {
  readonly prepare: <Bind extends readonly unknown[] | object = readonly unknown[], Row = unknown>(
    sql: string,
  ) => ResultsStatement<Arguments<Bind>, Row>
  /** Runs statements without values. */
  readonly exec: (sql: string) => void
  /** Runs `work` in a write transaction, which excludes other writers. */
  readonly transact: <Result>(work: () => Result) => Result
  /** Runs `work`, which writes nothing, on one snapshot. */
  readonly onSnapshot: <Result>(work: () => Result) => Result
  /**
   * Prepares inserting rows of integers into `columns`, which include `series` and `due_s`. Returns whether each row is
   * new; rows that exist in `table` or in `otherTable` stay unchanged.
   */
  readonly insertNew: (
    table: string,
    columns: readonly string[],
    otherTable?: string,
  ) => (rows: readonly (readonly number[])[]) => readonly boolean[]
  /** Creates a table with the columns `place`, an integer key, and `results`, bytes. */
  readonly createChunkTable: (name: string) => void
  /** The rows of such a table with these places, unordered; on PostgreSQL in one query. */
  readonly chunksAt: (
    table: string,
    places: readonly number[],
  ) => readonly { readonly place: number; readonly results: Buffer }[]
  /** Tables whose names begin with `prefix`. */
  readonly tablesWith: (prefix: string) => readonly string[]
  /** Changes when a table is created or dropped. */
  readonly schemaVersion: () => number
  /** The columns of the primary key of a table, in order. */
  readonly keyOf: (table: string) => readonly string[]
  readonly close: () => void
}

/** SQL that inserts a row with the columns `key` and `others`, or updates the row with the same key. Pure. */
export function upsertSql(table: string, key: readonly string[], others: readonly string[]): string {
  const columns = [...key, ...others]
  const conflict = `ON CONFLICT (${key.join(', ')}) DO ${
    others.length === 0
      ? 'NOTHING'
      : `UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
  }`
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${conflict}`
}
