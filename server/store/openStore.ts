import { committedVersion } from './committedVersion.ts'
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

/**
 * Opens the store of `dataDir`, made when there is none. Rejects when the database is of a newer release, not
 * durable, or not a database. Several programs may have the same store open.
 */
export async function openStore(dataDir: string, nowMs: () => number): Promise<Store> {
  const connections = await openDatabase(dataDir)
  const commits = new GroupCommit(connections.writer)
  const version = committedVersion(connections.reader)
  commits.onCommit(version.forget)
  return {
    ...sqliteServices(connections, { commits, version, nowMs }),
    ...sqliteIncidents(connections, commits, nowMs),
    ...sqliteOutbox(connections, commits),
    ...sqliteKeys(connections, version),
    ...sqliteSecrets(connections, commits),
    ...sqliteAdministration(connections, commits),
    ...sqliteUpkeep(connections, commits),
  }
}
