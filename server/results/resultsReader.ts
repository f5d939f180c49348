import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { RESULTS_FILE } from './resultsSchema.ts'

/** How long a look waits for the program that writes (milliseconds). */
const BUSY_MS_MAX = 5_000

/**
 * Runs `look` on the results of `dataDir`, beside a server that writes them or without one; on `undefined` when there are
 * none. Nothing is written.
 */
export async function withResults<Result>(
  dataDir: string,
  look: (database: Database | undefined) => Result,
): Promise<Result> {
  const file = join(dataDir, RESULTS_FILE)
  if (!existsSync(file)) return look(undefined)
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file, { readonly: true, timeout: BUSY_MS_MAX })
  try {
    // One instant for everything that is read.
    return database.transaction(look)(database)
  } finally {
    database.close()
  }
}
