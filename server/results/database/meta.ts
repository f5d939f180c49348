import { type ResultsDatabase, upsertSql } from './resultsDatabase.ts'

/** The value of `key` in the table `meta`; `undefined` when absent. */
export function readMeta(database: ResultsDatabase, key: string): string | undefined {
  return database.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(key)
}

/** Prepares writing values of the table `meta`, in the caller's transaction. */
export function prepareMeta(database: ResultsDatabase): (key: string, value: string) => void {
  const put = database.prepare(upsertSql('meta', ['key'], ['value']))
  return (key, value) => {
    put.run(key, value)
  }
}
