import type { ChangeSql } from '../monitoring/changeReads.ts'

/** Commands whose transaction, like all earlier ones, has ended. */
const SETTLED = 'xid < pg_snapshot_xmin(pg_current_snapshot())'

/**
 * Changes are ordered by transaction id, and visible once all earlier transactions have ended: values of a sequence
 * become visible out of order. All changes of a transaction have the same position, so pages may be a few rows longer
 * than requested.
 */
export const CHANGE_SQL: ChangeSql = {
  newestCommand: `SELECT greatest(deleted_up_to, (SELECT xid FROM commands WHERE ${SETTLED} ORDER BY xid DESC LIMIT 1))
    ::text::bigint AS number FROM outbox_horizon`,
  commandsForgottenUpTo: 'SELECT deleted_up_to::text::bigint AS number FROM outbox_horizon',
  changedServices: (isOfRegion) =>
    `SELECT service_id AS "serviceId", max(xid::text::bigint) AS sequence FROM commands
     WHERE xid > $1::text::xid8 AND xid <= $2::text::xid8 AND ${SETTLED} ${isOfRegion ? 'AND region = $4' : ''}
     GROUP BY service_id ORDER BY max(xid::text::bigint) FETCH FIRST $3 ROWS WITH TIES`,
  newestQuietChange: `SELECT xid::text::bigint AS number FROM quiet_changes WHERE ${SETTLED}
    ORDER BY xid DESC LIMIT 1`,
  quietChanges: `SELECT service_id AS "serviceId", xid::text::bigint AS sequence FROM quiet_changes
    WHERE xid > $1::text::xid8 AND ${SETTLED} ORDER BY xid FETCH FIRST $2 ROWS WITH TIES`,
}
