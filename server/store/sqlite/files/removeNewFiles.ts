import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from './openDatabase.ts'

/** Names of locks and databases, with the files that SQLite adds to them. */
const LOCK = /\.lock(-\w+)?$/
const DATABASE = /\.db(-\w+)?$/

/**
 * Notes the files of `dataDir`, which the caller has locked; returns the function that removes the locks, and the
 * databases that were created since. It removes nothing where there was a database already.
 */
export function removeNewFiles(dataDir: string): () => Promise<void> {
  const before = new Set(readdirSync(dataDir))
  return async () => {
    if (before.has(DATABASE_FILE)) return
    for (const name of readdirSync(dataDir)) {
      if (LOCK.test(name) || (DATABASE.test(name) && !before.has(name))) rmSync(join(dataDir, name))
    }
  }
}
