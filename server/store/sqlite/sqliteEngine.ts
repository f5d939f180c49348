import { existsSync } from 'node:fs'
import type { Engine } from '../engine.ts'
import { noteRestore } from './changes/audit.ts'
import { assertUndamaged } from './files/assertUndamaged.ts'
import { backupDatabase } from './files/backupDatabase.ts'
import { folderFacts } from './files/folderFacts.ts'
import { judgeFolder } from './files/judgeFolder.ts'
import { noteBackup } from './files/lastBackup.ts'
import { lockDataFolder, lockRotation } from './files/lockDataFolder.ts'
import { MIGRATIONS, schemaVersion } from './files/migrations.ts'
import { assertNotMoved } from './files/movedMark.ts'
import { databaseFile } from './files/openDatabase.ts'
import { restoreDatabase } from './files/restoreDatabase.ts'
import { openStore } from './openStore.ts'
import { openPortable } from './files/portable.ts'

/** A data folder with an SQLite database. Copies of it are files. */
export interface SqliteEngine extends Engine {
  /** Writes a snapshot of the whole database to `file`, while it is in use. */
  backupTo(file: string): Promise<void>
  /** Creates the data folder from a copy. Rejects unless it is empty. */
  restoreFrom(file: string): Promise<void>
}

/** The engine of the data folder `dataDir`. `mutationsPerCommit` is as GroupCommit's when absent. */
export function sqliteEngine(
  dataDir: string,
  nowMs: () => number,
  mutationsPerCommit?: number,
): SqliteEngine {
  const locks = { serve: lockDataFolder, rotation: lockRotation }
  return {
    place: dataDir,
    schemaVersion: MIGRATIONS.length,
    makesMasterKeys: true,
    exists: async () => existsSync(databaseFile(dataDir)),
    schemaNow: () => schemaNow(databaseFile(dataDir)),
    open: async (purpose) => {
      assertNotMoved(dataDir)
      const store = await openStore(dataDir, nowMs, mutationsPerCommit)
      if (purpose === 'administer') return store
      try {
        await assertUndamaged(dataDir)
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
    openPortable: () => openPortable(dataDir),
    backupTo: async (file) => {
      await backupDatabase(databaseFile(dataDir), file)
      noteBackup(databaseFile(dataDir))
    },
    restoreFrom: (file) => restoreDatabase(file, dataDir, (copy) => noteRestore(copy, nowMs())),
  }
}

async function schemaNow(file: string): Promise<number | undefined> {
  if (!existsSync(file)) return undefined
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file)
  try {
    database.pragma('query_only = ON')
    return schemaVersion(database)
  } finally {
    database.close()
  }
}
