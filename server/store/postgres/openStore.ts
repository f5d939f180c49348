import type { Caller } from '../../domain/apiKeys.ts'
import { accounts } from '../accounts/accounts.ts'
import { agentTokens } from '../administration/agentTokens.ts'
import { auditLog } from '../administration/auditLog.ts'
import { keyring } from '../administration/keyring.ts'
import { keyUses } from '../administration/keyUses.ts'
import { maintenance } from '../administration/maintenance.ts'
import { organisations } from '../administration/organisations.ts'
import { regionModes } from '../administration/regionModes.ts'
import { secrets } from '../administration/secrets.ts'
import { outbox } from '../commands/outbox.ts'
import { incidentReads } from '../incidents/incidentReads.ts'
import { monitoringReads } from '../monitoring/monitoringReads.ts'
import { notifications } from '../notifications/notifications.ts'
import { serviceHistory } from '../services/serviceHistory.ts'
import { SELECT_CALLER } from '../shared/callerQuery.ts'
import { publishedReads } from '../statusPages/publishedReads.ts'
import { statusPages } from '../statusPages/statusPages.ts'
import type { Store } from '../store.ts'
import { changeCount } from './changeCount.ts'
import { COMMAND_ORDER } from './commandOrder.ts'
import { openPools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'
import { type LimiterClocks, sharedAdmission } from './credentials/sharedAdmission.ts'
import { INCIDENT_SQL } from './incidentSql.ts'
import { postgresIncidents } from './incidents.ts'
import { postgresMonitoring } from './monitoring.ts'
import { monitoringLease } from './monitoringLease.ts'
import { postgresSending } from './notifications/sending.ts'
import { postgresScripts } from './postgresScripts.ts'
import { postgresServices } from './services.ts'
import { postgresUpkeep } from './upkeep.ts'
import { WINDOW_ROWS } from './windowRows.ts'
import { OrgQueues } from './writes/orgQueues.ts'

/** Clocks of a store. */
export interface StoreClocks extends LimiterClocks {
  /** Wall clock (milliseconds since the epoch). */
  readonly nowMs: () => number
}

/** Opens the store in the database at `url`, which has the newest schema. */
export async function openStore(url: string, clocks: StoreClocks): Promise<Store> {
  const { nowMs, monotonicMs } = clocks
  const pools = openPools(url, monotonicMs)
  try {
    const identity = await rowOf<{ id: string }>(pools.read, 'SELECT id FROM store_identity', [])
    if (identity === undefined)
      throw new Error('the database has no identity: it was not restored as a whole')
    const queues = new OrgQueues(pools, { nowMs, monotonicMs })
    const parts = { pools, queues, nowMs }
    const scripts = postgresScripts(parts)
    const { releaseLeases, ...sending } = postgresSending(pools, scripts)
    return {
      storeId: identity.id,
      sharedAdmission: sharedAdmission(pools.admission, clocks),
      monitoringLease: monitoringLease(pools),
      ...postgresServices(parts),
      ...serviceHistory(scripts),
      ...incidentReads(scripts, INCIDENT_SQL),
      ...postgresIncidents(parts),
      ...outbox(scripts, { order: COMMAND_ORDER, storeId: identity.id }),
      ...monitoringReads(scripts, WINDOW_ROWS.serviceIds),
      ...postgresMonitoring(parts),
      ...agentTokens(scripts),
      ...regionModes(scripts, nowMs),
      // Nothing is cached: another process may have revoked a key.
      callerOf: (hash) => rowOf<Caller>(pools.read, SELECT_CALLER, [hash]),
      ...keyUses(scripts),
      ...secrets(scripts),
      ...auditLog(scripts),
      ...organisations(scripts, nowMs),
      ...keyring(scripts),
      ...maintenance(scripts, WINDOW_ROWS),
      ...accounts(scripts),
      ...statusPages(scripts, nowMs),
      ...publishedReads(scripts, INCIDENT_SQL),
      changeCount: changeCount(parts, monotonicMs),
      ...notifications(scripts),
      ...sending,
      ...postgresUpkeep(parts, scripts, releaseLeases),
    }
  } catch (error) {
    await pools.close()
    throw error
  }
}
