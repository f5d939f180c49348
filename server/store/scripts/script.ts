import type { ApiError } from '../../../api/contract/apiError.ts'

/** A parameter of a statement. A list is an array in PostgreSQL, and JSON in SQLite. */
export type ScriptValue = string | number | boolean | null | Buffer | readonly string[]

/**
 * A statement in SQL that both kinds of database run, with the parameters `$1`, `$2` and so on. PostgreSQL runs the
 * text as it is; `sqliteScripts.ts` lists what it replaces for SQLite. Texts are constants: each is prepared once.
 */
export interface Statement {
  readonly text: string
  readonly values: readonly ScriptValue[]
}

/**
 * Statements one after the other, and a result: written once for both kinds of database. SQLite runs a script without a
 * pause, inside a group commit; PostgreSQL awaits each statement. The error of a statement ends the script.
 */
export type Script<Result> = Generator<Statement, Result, readonly object[]>

/** Runs scripts. Scripts that write may run several times, with earlier writes undone: they change nothing else. */
export interface Scripts {
  /** Runs a script that only reads, without a transaction. */
  readonly read: <Result>(script: () => Script<Result>) => Promise<Result>
  /** Runs a script of one statement. */
  readonly write: <Result>(script: () => Script<Result>) => Promise<Result>
  readonly inTransaction: <Result>(script: () => Script<Result>) => Promise<Result>
  /**
   * Runs a script in a transaction that locks the organisation: data of the organisation that the script reads does not
   * change before the end. Rejects with `refusal` when there is no such organisation.
   */
  readonly withOrgLocked: <Result>(
    orgId: string,
    refusal: ApiError,
    script: () => Script<Result>,
  ) => Promise<Result>
  /** For scripts that only use disk space: throws when the disk is full, which undoes their writes. */
  readonly assertGrowth: () => void
}

/** The rows of a statement. Without RETURNING, one that writes has none. */
export function* rows<Row extends object>(
  text: string,
  values: readonly ScriptValue[],
): Script<readonly Row[]> {
  // True because each caller names the row of its own statement.
  return (yield { text, values }) as readonly Row[]
}

/** The only row of a statement; `undefined` when there is none. */
export function* row<Row extends object>(
  text: string,
  values: readonly ScriptValue[],
): Script<Row | undefined> {
  const [first] = yield* rows<Row>(text, values)
  return first
}

/** Runs a statement without rows. */
export function* run(text: string, values: readonly ScriptValue[]): Script<void> {
  yield { text, values }
}

/** The number of rows of `from`: a table with its conditions. */
export function* count(from: string, values: readonly ScriptValue[]): Script<number> {
  const found = yield* row<{ count: number }>(`SELECT count(*) AS count FROM ${from}`, values)
  return found?.count ?? 0
}

/** A column with a list, as either kind of database returns it. */
export type StoredList<Item extends string> = readonly Item[] | string

/** The list in a column. */
export function listOf<Item extends string>(stored: StoredList<Item>): readonly Item[] {
  return typeof stored === 'string' ? JSON.parse(stored) : stored
}
