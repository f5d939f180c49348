import { existsSync, statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { databaseProblem } from '../../../api/runtime/databasePair.ts'
import type { Engine } from '../engine.ts'
import { recordForAllOrgs } from '../scripts/auditScripts.ts'
import { assertUndamaged } from './files/assertUndamaged.ts'
import { backupDatabase } from './files/backupDatabase.ts'
import { backupInto } from './files/backupFolder.ts'
import { folderFacts } from './files/folderFacts.ts'
import { judgeFolder } from './files/judgeFolder.ts'
import { noteBackup } from './files/lastBackup.ts'
import { lockDataFolder, lockRotation } from './files/lockDataFolder.ts'
import { MIGRATIONS, schemaVersion } from './files/migrations.ts'
import { assertNotMoved } from './files/movedMark.ts'
import { databaseFile } from './files/openDatabase.ts'
import { openPortable } from './files/portable.ts'
import { removeNewFiles } from './files/removeNewFiles.ts'
import { restoreDatabase } from './files/restoreDatabase.ts'
import { withDatabase } from './files/withDatabase.ts'
import { openStore } from './openStore.ts'
import { executorOn } from './sqliteScripts.ts'

/** The engine of a data folder with an SQLite database. */
export interface SqliteEngine extends Engine {
  /**
   * Writes a snapshot of the database into `folder`, also while it is in use, and then removes all but the newest
   * `keep` snapshots; resolves to its file. Rejects with the reason of `signal` when that is aborted.
   */
  backupInto(folder: string, keep: number, signal?: AbortSignal): Promise<string>
  /** Writes a snapshot of the whole database to `file`, while it is in use. */
  backupTo(file: string): Promise<void>
  /** Creates the data folder from a copy. Rejects unless it is empty. */
  restoreFrom(file: string): Promise<void>
}

/** Settings of the engine of a data folder. */
interface SqliteSettings {
  /** As GroupCommit's when absent. */
  readonly mutationsPerCommit?: number
  /** Folder for the backup before a migration; the data folder when absent. */
  readonly backupFolder?: string | undefined
}

/** The engine of the data folder `dataDir`. Throws with the command to run when better-sqlite3 cannot be loaded. */
export function sqliteEngine(
  dataDir: string,
  nowMs: () => number,
  { mutationsPerCommit, backupFolder = dataDir }: SqliteSettings = {},
): SqliteEngine {
  const problem = databaseProblem()
  if (problem !== undefined) throw new Error(problem)
  const locks = { serve: lockDataFolder, rotation: lockRotation }
  return {
    place: dataDir,
    results: { dataDir },
    schemaVersion: MIGRATIONS.length,
    makesMasterKeys: true,
    // Unlike existsSync, it throws when the folder may not be read.
    exists: async () => statSync(databaseFile(dataDir), { throwIfNoEntry: false }) !== undefined,
    schemaNow: () => schemaNow(databaseFile(dataDir)),
    open: async (purpose) => {
      assertNotMoved(dataDir)
      await keepBeforeMigration(databaseFile(dataDir), backupFolder, nowMs())
      const store = await openStore(dataDir, nowMs, mutationsPerCommit)
      if (purpose === 'administer') return store
      try {
        await assertUndamaged(databaseFile(dataDir), 'restore a backup into an empty folder')
        return store
      } catch (error) {
        await store.close()
        throw error
      }
    },
    examine: async (depth) => judgeFolder(await folderFacts(dataDir, nowMs(), depth === 'whole')),
    lock: async (name) => {
      const release = await locks[name](dataDir)
      return async () => release()
    },
    assertNotMoved: async (except) => assertNotMoved(dataDir, except),
    removeNewFiles: async () => removeNewFiles(dataDir),
    openPortable: (_role, results) => openPortable(dataDir, results),
    backupInto: async (folder, keep, signal) => {
      const source = databaseFile(dataDir)
      const file = await backupInto(folder, source, { reason: { keep }, nowMs: nowMs(), signal })
      noteBackup(source)
      return file
    },
    backupTo: async (file) => {
      await backupDatabase(databaseFile(dataDir), file)
      noteBackup(databaseFile(dataDir))
    },
    restoreFrom: (file) => restoreDatabase(file, dataDir, (copy) => recordRestore(copy, nowMs())),
  }
}

async function schemaNow(file: string): Promise<number | undefined> {
  if (!existsSync(file)) return undefined
  return await withDatabase(file, {}, (database) => {
    database.pragma('query_only = ON')
    return schemaVersion(database)
  })
}

/** Backs the database `source` up into `folder` if the next open migrates it. Rejects when that fails. */
async function keepBeforeMigration(source: string, folder: string, nowMs: number): Promise<void> {
  const schema = (await schemaNow(source)) ?? 0
  if (schema === 0 || schema >= MIGRATIONS.length) return
  try {
    await backupInto(folder, source, { reason: { schema }, nowMs })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the database could not be copied before its schema changes: ${reason}`, { cause: error })
  }
}

/** Records a restore for every organisation of the copy, unless that is older than the audit log. */
function recordRestore(copy: Database, nowMs: number): void {
  const hasLog = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit'").get() !== undefined
  if (hasLog) executorOn(copy)(recordForAllOrgs({ action: 'database.restore', targetId: '', nowMs }))
}
