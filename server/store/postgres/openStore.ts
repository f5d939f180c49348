import type { Caller } from '../../domain/apiKeys.ts'
import { scriptedStore } from '../scripted/scriptedStore.ts'
import { SELECT_CALLER } from '../shared/callerQuery.ts'
import type { Store } from '../store.ts'
import { changeCount } from './changeCount.ts'
import { CHANGE_SQL } from './changeSql.ts'
import { COMMAND_ORDER } from './commandOrder.ts'
import { openPools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'
import { type LimiterClocks, sharedAdmission } from './credentials/sharedAdmission.ts'
import { INCIDENT_SQL } from './incidentSql.ts'
import { postgresIncidents } from './incidents.ts'
import { monitoringLease } from './monitoringLease.ts'
import { postgresSending } from './notifications/sending.ts'
import { postgresScripts } from './postgresScripts.ts'
import { postgresServices } from './services.ts'
import { transitionApplier } from './transitions.ts'
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
      ...postgresIncidents(parts),
      applyTransition: transitionApplier(parts),
      // Nothing is cached: another process may have revoked a key.
      callerOf: (hash) => rowOf<Caller>(pools.read, SELECT_CALLER, [hash]),
      ...scriptedStore({
        ...{ scripts, administration: scripts, commands: scripts, storeId: identity.id, nowMs },
        ...{ commandOrder: COMMAND_ORDER, changeSql: CHANGE_SQL },
        ...{ incidentSql: INCIDENT_SQL, windowRows: WINDOW_ROWS },
      }),
      changeCount: changeCount(parts, monotonicMs),
      ...sending,
      ...postgresUpkeep(parts, scripts, releaseLeases),
    }
  } catch (error) {
    await pools.close()
    throw error
  }
}
