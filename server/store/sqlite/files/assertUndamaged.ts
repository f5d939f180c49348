import { databaseFile } from './openDatabase.ts'

/**
 * Rejects when a page of the database of `dataDir` is damaged. Without it a damaged page would be found by the
 * first request that needs it, after many others were answered from a database that cannot be trusted. Reads
 * the whole file.
 */
export async function assertUndamaged(dataDir: string): Promise<void> {
  const { default: Sqlite } = await import('better-sqlite3')
  const file = databaseFile(dataDir)
  const database = new Sqlite(file)
  try {
    if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new Error(`${file} is damaged: restore a backup into an empty folder`)
    }
  } finally {
    database.close()
  }
}
