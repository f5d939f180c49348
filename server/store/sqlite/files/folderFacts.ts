import { statfsSync, statSync } from 'node:fs'
import { freeBytes } from './diskSpace.ts'
import type { FolderFacts } from './judgeFolder.ts'
import { lastBackupAtMs } from './lastBackup.ts'
import { databaseFile, setPragmas } from './openDatabase.ts'
import { withDatabase } from './withDatabase.ts'

/** Maximum wait for another program's transaction (milliseconds). */
const BUSY_MS_MAX = 5_000

/** Facts about the data folder `dataDir`; `isWhole` reads every page of the database. Changes no data. */
export function folderFacts(dataDir: string, nowMs: number, isWhole: boolean): Promise<FolderFacts> {
  const file = databaseFile(dataDir)
  return withDatabase(file, { timeout: BUSY_MS_MAX, fileMustExist: true }, (database) => {
    setPragmas(database)
    const of = (pragma: string): unknown => database.pragma(pragma, { simple: true })
    const backupAtMs = lastBackupAtMs(file)
    const { mode, birthtimeMs } = statSync(file)
    return {
      dataDir,
      journalMode: String(of('journal_mode')),
      synchronous: Number(of('synchronous')),
      integrity: isWhole ? String(of('integrity_check(1)')) : undefined,
      fileSystem: statfsSync(dataDir).type,
      modes: [statSync(dataDir).mode, mode],
      freeBytes: freeBytes(dataDir),
      ageMs: nowMs - birthtimeMs,
      backupAgeMs: backupAtMs === null ? undefined : nowMs - backupAtMs,
    }
  })
}
