import type { ChangeSql } from '../monitoring/changeReads.ts'

/** Changes are numbered in the order of their commits. The index is named: SQLite would choose another. */
export const CHANGE_SQL: ChangeSql = {
  newestCommand: "SELECT seq AS number FROM sqlite_sequence WHERE name = 'commands'",
  commandsForgottenUpTo: 'SELECT deleted_up_to AS number FROM outbox_horizon',
  changedServices: (isOfRegion) =>
    `SELECT service_id AS "serviceId", max(sequence) AS sequence FROM commands
     ${isOfRegion ? 'INDEXED BY commands_of_region WHERE region = $4 AND' : 'WHERE'} sequence > $1 AND sequence <= $2
     GROUP BY service_id ORDER BY max(sequence) LIMIT $3`,
  newestQuietChange: 'SELECT max(sequence) AS number FROM quiet_changes',
  quietChanges: `SELECT service_id AS "serviceId", sequence FROM quiet_changes
    WHERE sequence > $1 ORDER BY sequence LIMIT $2`,
}
