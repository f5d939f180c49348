import { closeSync, openSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Beside the database; its time is that of the last backup. */
const LAST_BACKUP_FILE = 'last-backup'

/** Records that a backup of `database` was written. Ignores a read-only folder. */
export function noteBackup(database: string): void {
  const file = join(dirname(database), LAST_BACKUP_FILE)
  try {
    closeSync(openSync(file, 'a', 0o600))
    const now = new Date()
    utimesSync(file, now, now)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

/** Time of the last recorded backup of `database` (milliseconds since the epoch); `null` for none. */
export function lastBackupAtMs(database: string): number | null {
  return statSync(join(dirname(database), LAST_BACKUP_FILE), { throwIfNoEntry: false })?.mtimeMs ?? null
}
