import type { Database, Statement } from 'better-sqlite3'

/** Prepares a statement whose rows are the values of its only column. */
export function prepareValue<Parameters extends unknown[], Value>(
  database: Database,
  text: string,
): Statement<Parameters, Value> {
  // True because SQLite takes any parameters: the type only tells callers which ones the text has.
  return database.prepare<unknown[], Value>(text).pluck() as Statement<Parameters, Value>
}
