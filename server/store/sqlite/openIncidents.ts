import type { Database } from 'better-sqlite3'
import type { Severity } from '../../../api/contract/incidentTerms.ts'
import { type IncidentStore, OPEN_ENTRIES_MAX } from '../store.ts'

interface Row {
  readonly serviceId: string
  readonly id: string
  readonly number: number
  /** With commas between them. */
  readonly severities: string
}

/** Prepares reading the open incidents of each service. */
export function prepareOpenIncidents(database: Database): IncidentStore['openIncidents'] {
  // Next to max(), the other columns are those of the row with the maximum.
  const select = database.prepare<[string, number], Row>(
    `SELECT serviceId, id, number, max(position), group_concat(DISTINCT severity) AS severities
     FROM (SELECT s.service_id AS serviceId, i.id, i.number, i.position, i.severity
       FROM incidents i INDEXED BY incidents_by_section CROSS JOIN incident_services s ON s.incident_id = i.id
       WHERE i.org_id = ? AND i.kind = 'incident' AND (i.status = 'resolved') = 0
       ORDER BY i.position DESC LIMIT ?)
     GROUP BY serviceId`,
  )
  return async (orgId) =>
    new Map(
      select.all(orgId, OPEN_ENTRIES_MAX).map(({ serviceId, id, number, severities }) => [
        serviceId,
        {
          newest: { id, display_id: `INC-${number}` },
          // True because only severities are stored.
          severities: severities.split(',') as Severity[],
        },
      ]),
    )
}
