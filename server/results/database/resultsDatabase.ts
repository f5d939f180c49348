/** The arguments of a statement: several in their order, or one object with names. */
type Arguments<Bind> = Bind extends readonly unknown[] ? Bind : readonly [Bind]

/** A statement that is prepared once. */
export interface ResultsStatement<Given extends readonly unknown[], Row> {
  readonly get: (...given: Given) => Row | undefined
  readonly all: (...given: Given) => Row[]
  /** Reading `changes` waits for the write, which may otherwise go with the next statement. */
  readonly run: (...given: Given) => { readonly changes: number }
  /** The statement with its first column in place of a row. */
  readonly pluck: () => ResultsStatement<Given, Row>
}

/**
 * The database of results, of one thread that waits for it. Its SQL is what SQLite and PostgreSQL understand alike, with
 * `?` and `@name` for values; integers have 64 bits, of which at most 53 are used.
 */
export interface ResultsDatabase {
  readonly prepare: <Bind extends readonly unknown[] | object = readonly unknown[], Row = unknown>(
    sql: string,
  ) => ResultsStatement<Arguments<Bind>, Row>
  /** Runs statements without values. */
  readonly exec: (sql: string) => void
  /** Runs `work` in a transaction that no other writer is in. */
  readonly transact: <Result>(work: () => Result) => Result
  /** Runs `work`, which writes nothing, on one snapshot. */
  readonly onSnapshot: <Result>(work: () => Result) => Result
  /**
   * Prepares inserting rows of integers by `columns`, two of which are `series` and `due_s`; whether each row is new. Those
   * that are there stay as they are.
   */
  readonly insertNew: (
    table: string,
    columns: readonly string[],
  ) => (rows: readonly (readonly number[])[]) => readonly boolean[]
  /** Makes a table with the columns `place`, an integer that is its key, and `results`, bytes. */
  readonly createChunkTable: (name: string) => void
  /** Tables whose names begin with `prefix`. */
  readonly tablesWith: (prefix: string) => readonly string[]
  /** Differs when a table was made or dropped since. */
  readonly schemaVersion: () => number
  /** The key of a table, in its order. */
  readonly keyOf: (table: string) => readonly string[]
  readonly close: () => void
}

/** The statement that inserts a row of `columns`, or replaces the one with its `key`, by values in that order. Pure. */
export function replaceSql(table: string, key: readonly string[], others: readonly string[]): string {
  const columns = [...key, ...others]
  const conflict = `ON CONFLICT (${key.join(', ')}) DO ${
    others.length === 0
      ? 'NOTHING'
      : `UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
  }`
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${conflict}`
}
