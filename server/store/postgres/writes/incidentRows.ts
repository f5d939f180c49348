import type { Incident, IncidentUpdate } from '../../../../api/contract/incident.ts'
import { type IncidentColumns, incidentOf } from '../../shared/incidentRow.ts'
import { uuidsIn } from '../../shared/uuid.ts'
import type { Sql } from '../connections/sql.ts'

interface IncidentRow extends IncidentColumns {
  readonly serviceIds: readonly string[]
  readonly updates: readonly IncidentUpdate[]
}

/** The incidents of an organisation with these ids, newest first, and their updates. */
const WANTED = `FROM incidents i CROSS JOIN LATERAL
  (SELECT json_agg(json_build_object('id', id, 'body', body, 'status_at_update', status_at_update,
     'created_at', created_at) ORDER BY place) AS updates
   FROM incident_updates WHERE incident_id = i.id) u
WHERE i.org_id = $1 AND i.kind = 'incident' AND i.id = ANY($2::uuid[]) ORDER BY i.position DESC`

/** Selects whole incidents as IncidentRows. */
const SELECT_INCIDENTS = `
  SELECT i.id, i.number, i.title, i.status, i.severity, i.created_at, i.updated_at, i.resolved_at, i.auto_managed,
    i.service_ids AS "serviceIds", u.updates
  ${WANTED}`

/** The incidents of an organisation with these ids, newest first; those that do not exist are left out. */
export async function readIncidents(
  sql: Sql,
  orgId: string,
  ids: readonly string[],
): Promise<readonly Incident[]> {
  const rows = await sql.rows<IncidentRow>(SELECT_INCIDENTS, [orgId, uuidsIn(ids)])
  return rows.map(({ serviceIds, updates, ...row }) => incidentOf(row, serviceIds, updates))
}

/** Incidents as the API shows them, JSON, newest first; the parameters are those of `readIncidents`. */
export const SELECT_INCIDENT_JSON = `
  SELECT json_build_object('id', i.id, 'kind', 'incident', 'title', i.title, 'status', i.status,
    'severity', i.severity, 'created_by', NULL, 'created_at', i.created_at, 'resolved_at', i.resolved_at,
    'service_ids', i.service_ids, 'display_id', 'INC-' || i.number, 'updated_at', i.updated_at,
    'auto_managed', i.auto_managed, 'updates', u.updates)::text AS text
  ${WANTED}`
