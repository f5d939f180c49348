import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** File whose lock says that a server uses the folder. */
const LOCK_FILE = 'server.lock'

/**
 * Takes `dataDir` for one server; resolves to what gives it back. The lock is SQLite's own lock on an empty
 * database, which the operating system drops when the process ends, however it ends: there is no stale lock
 * to clean up. Rejects when another server has it.
 */
export async function lockDataFolder(dataDir: string): Promise<() => void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const { default: Sqlite } = await import('better-sqlite3')
  const lock = new Sqlite(join(dataDir, LOCK_FILE), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new Error(`${dataDir} is in use by another server: stop that one, or name another --data-dir`, {
        cause: error,
      })
    }
    throw error
  }
  return () => {
    lock.close()
  }
}
