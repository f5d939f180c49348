import type { Database, Options } from 'better-sqlite3'

/** Runs `work` on a connection of its own to the database `file`. Loads better-sqlite3 at the first call. */
export async function withDatabase<Result>(
  file: string,
  options: Options,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file, options)
  try {
    return await work(database)
  } finally {
    database.close()
  }
}
