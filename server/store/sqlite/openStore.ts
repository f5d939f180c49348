import { randomUUID } from 'node:crypto'
import { orderedUuid } from '../../domain/orderedUuid.ts'
import { type ChannelLeases, dueDeliveries } from '../notifications/dueDeliveries.ts'
import { giveNotice } from '../notifications/giveNotice.ts'
import { recordAttempt } from '../notifications/recordAttempt.ts'
import { markApplied } from '../monitoring/monitoringReads.ts'
import { scriptedStore } from '../scripted/scriptedStore.ts'
import { autoIncidentsOf, incidentEffect } from '../shared/autoIncidents.ts'
import type { Store } from '../store.ts'
import { autoIncidentRows } from './autoIncidentRows.ts'
import { prepareAudit } from './changes/audit.ts'
import { CHANGE_SQL } from './changeSql.ts'
import { COMMAND_ORDER } from './commandOrder.ts'
import { committedVersions } from './commits/committedVersion.ts'
import { GroupCommit } from './commits/groupCommit.ts'
import { sqliteKeys } from './credentials/keys.ts'
import { DiskSpace } from './files/diskSpace.ts'
import { fileGuard } from './files/fileGuard.ts'
import { type Connections, databaseFile, openDatabase } from './files/openDatabase.ts'
import { ensureStoreId } from './files/storeIdentity.ts'
import { INCIDENT_SQL } from './incidentSql.ts'
import { sqliteIncidents } from './incidents.ts'
import { prepareIncidentWrites } from './incidentWrites.ts'
import { sqliteServices } from './services.ts'
import { executorOn, sqliteScripts } from './sqliteScripts.ts'
import { sqliteUpkeep } from './upkeep.ts'
import { WINDOW_ROWS } from './windowRows.ts'

/** One process sends from a file. */
const ONE_PROCESS: ChannelLeases = {
  ...{ isFree: 'true', holder: '' },
  take: async (channelIds) => channelIds,
  release: async () => {},
}

/**
 * Opens the store of `dataDir`, created when there is none. Rejects when the database is of a newer release, not
 * durable, or not a database. Several programs may open the same store. `mutationsPerCommit` limits the mutations that
 * share a flush; default that of GroupCommit.
 */
export async function openStore(
  dataDir: string,
  nowMs: () => number,
  mutationsPerCommit?: number,
): Promise<Store> {
  const disk = new DiskSpace(dataDir)
  disk.prepareOpening()
  const connections = await openDatabase(dataDir)
  const { writer } = connections
  const commits = new GroupCommit(writer, {
    batchMax: mutationsPerCommit,
    assertCommittable: fileGuard(databaseFile(dataDir)),
    disk: { assertGrowth: () => disk.assertGrowth(), makeRoom: () => makeRoom(disk, connections) },
  })
  const storeId = ensureStoreId(connections.reader)
  const versions = committedVersions(writer)
  commits.onCommit(versions.all.forget)
  const scripts = sqliteScripts(connections, commits)
  const administration = sqliteScripts(connections, {
    run: (work) =>
      commits.run(() => {
        // No read happens between here and the commit, which is in the same turn.
        versions.administration.forget()
        return work()
      }),
    assertGrowth: () => commits.assertGrowth(),
  })
  const environment = { nowMs, uuid: () => orderedUuid(nowMs(), randomUUID()) }
  const note = prepareAudit(writer)
  const writes = prepareIncidentWrites(writer, { note, environment })
  const autoIncidents = autoIncidentsOf({
    rows: autoIncidentRows(writer),
    writes,
    environment,
    assertGrowth: () => commits.assertGrowth(),
  })
  const execute = executorOn(writer)
  return {
    storeId,
    ...{ sharedAdmission: null, monitoringLease: null },
    ...sqliteServices(connections, { commits, version: versions.all, nowMs, autoIncidents, note }),
    ...sqliteIncidents(connections, { commits, nowMs, writes, autoIncidents }),
    ...sqliteKeys(connections, versions.administration),
    ...scriptedStore({
      ...{ scripts, administration, storeId, nowMs },
      // By the connection that wrote them, which has their pages in its cache.
      commands: sqliteScripts({ reader: writer, writer }, commits),
      ...{ commandOrder: COMMAND_ORDER, changeSql: CHANGE_SQL },
      ...{ incidentSql: INCIDENT_SQL, windowRows: WINDOW_ROWS },
    }),
    applyTransition: (resultsFile, after, transition) =>
      commits.run(() => {
        execute(markApplied(resultsFile, after, transition.sequence))
        if (transition.kind !== 'certificate.expiring') return incidentEffect(autoIncidents, transition)
        return execute(giveNotice(transition, environment))
      }),
    dueDeliveries: dueDeliveries(scripts, ONE_PROCESS),
    recordAttempt: recordAttempt(scripts, function* () {}),
    changeCount: versions.all.current,
    ...sqliteUpkeep(connections, { commits, disk, scripts }),
  }
}

/** Frees the reserve, so that the log can be moved into the database, and then frees the log's space too. */
function makeRoom(disk: DiskSpace, { writer }: Connections): boolean {
  if (!disk.release()) return false
  try {
    writer.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // The log keeps its length: the freed space must be enough.
  }
  return true
}
