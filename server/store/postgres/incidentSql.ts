import type { IncidentSql } from '../incidents/incidentSql.ts'

/** The services of incidents, as a column. */
export const INCIDENT_SQL: IncidentSql = {
  incidents: () => 'incidents i',
  isByPerson: 'NOT i.auto_managed',
  serviceIds: 'i.service_ids',
  joinServices: 'CROSS JOIN LATERAL unnest(i.service_ids) AS s (service_id)',
  isListed: `i.service_ids && ARRAY(SELECT c.service_id FROM status_components c
    JOIN status_sections t ON t.id = c.section_id WHERE t.page_id = $2)`,
  openOfComponents: `FROM incidents i CROSS JOIN LATERAL unnest(i.service_ids) AS s (id)
      JOIN status_components c ON c.service_id = s.id JOIN status_sections t ON t.id = c.section_id
    WHERE t.page_id = $2 AND i.org_id = $1 AND i.kind = 'incident' AND (i.status = 'resolved') = false`,
  authoredUpdates: 'incident_updates u',
}
