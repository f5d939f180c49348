import type { IncidentSql } from '../incidents/incidentSql.ts'

/** The services of incidents, as rows of their own. The indexes are named: SQLite would choose others. */
export const INCIDENT_SQL: IncidentSql = {
  incidents: (index) => `incidents i INDEXED BY ${index}`,
  isByPerson: 'i.auto_managed = 0',
  serviceIds: '(SELECT json_group_array(service_id) FROM incident_services WHERE incident_id = i.id)',
  joinServices: 'CROSS JOIN incident_services s ON s.incident_id = i.id',
  isListed: `EXISTS (SELECT 1 FROM incident_services s JOIN status_components c ON c.service_id = s.service_id
    JOIN status_sections t ON t.id = c.section_id WHERE s.incident_id = i.id AND t.page_id = $2)`,
  openOfComponents: `FROM status_sections t JOIN status_components c ON c.section_id = t.id
      JOIN incident_services s ON s.service_id = c.service_id AND s.is_resolved = 0 AND s.position IS NOT NULL
      JOIN incidents i ON i.position = s.position
    WHERE t.page_id = $2 AND i.org_id = $1`,
  authoredUpdates: 'incident_updates u JOIN incident_authors ON update_id = u.id',
}
