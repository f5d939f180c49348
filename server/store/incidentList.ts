import type { Database } from 'better-sqlite3'
import type { Incident } from '../../api/contract/incident.ts'
import { INCIDENT_COLUMNS, type IncidentRow, type ReadIncident } from './incidentRows.ts'
import { foldForSearch } from './searchText.ts'
import type { IncidentFilter } from './store.ts'

/** The named parameters of the two queries. */
interface Parameters {
  readonly orgId: string
  readonly isResolved: number
  readonly q: string | null
  readonly severity: string | null
  readonly serviceIds: string | null
}

// instr and not LIKE: a percent sign or an underscore in the search is only itself (Gap G18).
const WHERE = `
  org_id = @orgId AND kind = 'incident' AND (status = 'resolved') = @isResolved
  AND (@q IS NULL OR instr(title_folded, @q) > 0 OR instr(display_id_folded, @q) > 0)
  AND (@severity IS NULL OR severity = @severity)
  AND (@serviceIds IS NULL OR EXISTS (
    SELECT 1 FROM incident_services s WHERE s.incident_id = incidents.id
    AND s.service_id IN (SELECT value FROM json_each(@serviceIds))))`

/** Prepares the list of an organisation's incidents: one page, newest first, with the count of all. Gap G3, Gap G8. */
export function prepareIncidentList(database: Database, whole: ReadIncident['ofRows']) {
  const count = database
    .prepare<[Parameters], number>(`SELECT count(*) FROM incidents WHERE ${WHERE}`)
    .pluck()
  const page = database.prepare<[Parameters & { limit: number; offset: number }], IncidentRow>(
    `SELECT ${INCIDENT_COLUMNS} FROM incidents WHERE ${WHERE}
     ORDER BY position DESC LIMIT @limit OFFSET @offset`,
  )
  // One transaction, so that the count and the page are of the same instant.
  return database.transaction(
    (orgId: string, filter: IncidentFilter): { items: readonly Incident[]; total: number } => {
      const parameters: Parameters = {
        orgId,
        isResolved: filter.section === 'resolved' ? 1 : 0,
        q: filter.q === undefined ? null : foldForSearch(filter.q),
        severity: filter.severity ?? null,
        serviceIds: filter.serviceIds.length === 0 ? null : JSON.stringify(filter.serviceIds),
      }
      const total = count.get(parameters) ?? 0
      const offset = (filter.page - 1) * filter.limit
      if (offset >= total) return { items: [], total }
      return { items: whole(page.all({ ...parameters, limit: filter.limit, offset })), total }
    },
  )
}
