import type { MonitoringReads } from '../monitoring/monitoringReads.ts'
import type { MonitoringStore } from '../monitoringStore.ts'
import { rowOf } from './connections/sql.ts'
import { transitionApplier } from './transitions.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Commands whose transaction, like all earlier ones, has ended. */
const SETTLED = 'xid < pg_snapshot_xmin(pg_current_snapshot())'

interface ChangedRow {
  readonly serviceId: string
  readonly sequence: number
}

/**
 * Changes of definitions and applied transitions, in PostgreSQL. Changes are ordered by transaction id, and visible
 * once all earlier transactions have ended: values of a sequence become visible out of order. All changes of a
 * transaction have the same position, so pages may be a few rows longer than requested.
 */
export function postgresMonitoring({
  pools,
  queues,
  nowMs,
}: StoreParts): Omit<MonitoringStore, keyof MonitoringReads | 'regionModes' | 'setRegionMode'> {
  const { read } = pools
  const numberOf = async (text: string): Promise<number> =>
    (await rowOf<{ number: number }>(read, text, []))?.number ?? 0
  return {
    newestCommand: () =>
      numberOf(
        `SELECT greatest(deleted_up_to, (SELECT xid FROM commands WHERE ${SETTLED} ORDER BY xid DESC LIMIT 1))
           ::text::bigint AS number FROM outbox_horizon`,
      ),
    commandsForgottenUpTo: () => numberOf('SELECT deleted_up_to::text::bigint AS number FROM outbox_horizon'),
    changedServices: ({ after, upTo, region = null, countMax }) =>
      read.rows<ChangedRow>(
        `SELECT service_id AS "serviceId", max(xid::text::bigint) AS sequence FROM commands
         WHERE xid > $1::text::xid8 AND xid <= $2::text::xid8 AND ${SETTLED}
           ${region === null ? '' : 'AND region = $4'}
         GROUP BY service_id ORDER BY max(xid::text::bigint) FETCH FIRST $3 ROWS WITH TIES`,
        [String(after), String(upTo), countMax, ...(region === null ? [] : [region])],
      ),
    newestQuietChange: () =>
      numberOf(
        `SELECT xid::text::bigint AS number FROM quiet_changes WHERE ${SETTLED} ORDER BY xid DESC LIMIT 1`,
      ),
    quietChanges: (after, countMax) =>
      read.rows<ChangedRow>(
        `SELECT service_id AS "serviceId", xid::text::bigint AS sequence FROM quiet_changes
         WHERE xid > $1::text::xid8 AND ${SETTLED} ORDER BY xid FETCH FIRST $2 ROWS WITH TIES`,
        [String(after), countMax],
      ),
    applyTransition: transitionApplier({ pools, queues, nowMs }),
  }
}
