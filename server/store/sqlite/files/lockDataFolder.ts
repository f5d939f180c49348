import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../../../api/runtime/makeFolder.ts'
import { ownAsFolder } from './ownAsFolder.ts'

const OWNER_FILE_MODE = 0o600

/** Locks `dataDir` for one server; resolves to the function that releases it. Rejects when another server holds the lock. */
export async function lockDataFolder(dataDir: string): Promise<() => void> {
  makeFolder(dataDir, OWNER_ONLY)
  return takeLock(
    join(dataDir, 'server.lock'),
    `${dataDir} is in use by another server: stop that one, or use another --data-dir`,
  )
}

/** Locks `dataDir` for one rotation of its master key, beside a server that may run; rejects as above. */
export function lockRotation(dataDir: string): Promise<() => void> {
  return takeLock(
    join(dataDir, 'rotation.lock'),
    `the master key of ${dataDir} is being rotated: wait for the end of that`,
  )
}

/**
 * The lock is SQLite's lock on an empty database, which the operating system releases whenever the process ends: there
 * is no stale lock to clean up.
 */
async function takeLock(file: string, whenTaken: string): Promise<() => void> {
  const { default: Sqlite } = await import('better-sqlite3')
  const lock = new Sqlite(file, { timeout: 0 })
  try {
    // Otherwise, another user who may read the file could hold the lock.
    chmodSync(file, OWNER_FILE_MODE)
    ownAsFolder(file)
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new Error(whenTaken, { cause: error })
    }
    throw error
  }
  return () => {
    lock.close()
  }
}
