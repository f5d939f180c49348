import { databaseFile } from './openDatabase.ts'

/**
 * Rejects when a page of the database of `dataDir` is damaged. Otherwise, the damage would surface only when a request
 * needs the page. Reads the whole file.
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
