import type { Incident, IncidentUpdate } from '../../../api/contract/incident.ts'

/** Largest page of incidents read into memory: bytes of texts, and updates. Gap G33. */
export const WHOLE_PAGE_BYTES_MAX = 512 * 1_024
export const WHOLE_PAGE_UPDATES_MAX = 2_000

/** An incident without the data in other tables. */
export interface IncidentColumns
  extends Omit<Incident, 'kind' | 'created_by' | 'service_ids' | 'display_id' | 'updates'> {
  readonly number: number
}

/** The incident of a row, its services, and its updates in posting order. Pure. */
export function incidentOf(
  row: IncidentColumns,
  serviceIds: readonly string[],
  updates: readonly IncidentUpdate[],
): Incident {
  return {
    id: row.id,
    kind: 'incident',
    title: row.title,
    status: row.status,
    severity: row.severity,
    created_by: null,
    created_at: row.created_at,
    resolved_at: row.resolved_at,
    service_ids: [...serviceIds],
    display_id: `INC-${row.number}`,
    updated_at: row.updated_at,
    auto_managed: row.auto_managed,
    updates: [...updates],
  }
}
