import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { RESULTS_FILE } from './resultsSchema.ts'

/** How long a read waits for the process that writes (milliseconds). */
const BUSY_MS_MAX = 5_000

/**
 * Runs `read` on `results.db` of `dataDir`, with or without a running server; passes `undefined` when the file is absent.
 * Writes nothing.
 */
export async function withResults<Result>(
  dataDir: string,
  read: (database: Database | undefined) => Result,
): Promise<Result> {
  const file = join(dataDir, RESULTS_FILE)
  if (!existsSync(file)) return read(undefined)
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file, { readonly: true, timeout: BUSY_MS_MAX })
  try {
    // One snapshot for all statements.
    return database.transaction(read)(database)
  } finally {
    database.close()
  }
}
