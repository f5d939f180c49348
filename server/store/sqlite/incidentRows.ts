import type { Database } from 'better-sqlite3'
import type { Incident, IncidentUpdate } from '../../../api/contract/incident.ts'
import { type IncidentColumns, incidentOf } from '../shared/incidentRow.ts'

/** A row of IncidentColumns. */
export type IncidentRow = Omit<IncidentColumns, 'auto_managed'> & { readonly auto_managed: number }

/** Columns of an IncidentRow. */
export const INCIDENT_COLUMNS =
  'id, number, title, status, severity, created_at, updated_at, resolved_at, auto_managed'

/** Prepares reading complete incidents of `database`, with updates in posting order. */
export function prepareIncidentRead(database: Database) {
  const select = database.prepare<[string, string], IncidentRow>(
    `SELECT ${INCIDENT_COLUMNS} FROM incidents WHERE id = ? AND org_id = ? AND kind = 'incident'`,
  )
  const services = database
    .prepare<[string], string>(
      'SELECT service_id FROM incident_services WHERE incident_id = ? ORDER BY place',
    )
    .pluck()
  const updates = database.prepare<[string], IncidentUpdate>(
    `SELECT id, body, status_at_update, created_at FROM incident_updates
     WHERE incident_id = ? ORDER BY place`,
  )
  const whole = (row: IncidentRow): Incident =>
    incidentOf({ ...row, auto_managed: row.auto_managed === 1 }, services.all(row.id), updates.all(row.id))
  return {
    one: (orgId: string, incidentId: string): Incident | undefined => {
      const row = select.get(incidentId, orgId)
      return row === undefined ? undefined : whole(row)
    },
    ofRow: whole,
  }
}
