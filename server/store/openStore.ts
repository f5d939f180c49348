import { GroupCommit } from './groupCommit.ts'
import { openDatabase } from './openDatabase.ts'
import { sqliteAdministration } from './sqliteAdministration.ts'
import { sqliteIncidents } from './sqliteIncidents.ts'
import { sqliteKeys } from './sqliteKeys.ts'
import { sqliteOutbox } from './sqliteOutbox.ts'
import { sqliteSecrets } from './sqliteSecrets.ts'
import { sqliteServices } from './sqliteServices.ts'
import { sqliteUpkeep } from './sqliteUpkeep.ts'
import type { Store } from './store.ts'
import { turnSnapshot } from './turnSnapshot.ts'

/**
 * Opens the store of `dataDir`, made when there is none. Rejects when the database is of a newer release, not
 * durable, or not a database. Several programs may have the same store open.
 */
export async function openStore(dataDir: string, nowMs: () => number): Promise<Store> {
  const connections = await openDatabase(dataDir)
  const commits = new GroupCommit(connections.writer)
  const snapshot = turnSnapshot(connections.reader)
  commits.onCommit(snapshot.end)
  return {
    ...sqliteServices(connections, { commits, snapshot, nowMs }),
    ...sqliteIncidents(connections, commits, nowMs),
    ...sqliteOutbox(connections, commits),
    ...sqliteKeys(connections, snapshot),
    ...sqliteSecrets(connections, commits),
    ...sqliteAdministration(connections, commits),
    ...sqliteUpkeep(connections, commits),
  }
}
