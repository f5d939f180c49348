import type { WindowRows } from '../administration/maintenance.ts'
import { run, type Script } from '../scripts/script.ts'
import { foldForSearch } from '../shared/searchText.ts'
import type { MaintenanceWindow } from '../store.ts'

/** The services of windows, as rows of their own. */
export const WINDOW_ROWS: WindowRows = {
  serviceIds: `(SELECT json_group_array(service_id ORDER BY place) FROM incident_services
    WHERE incident_id = incidents.id)`,
  insert: function* (window, now) {
    const { id, orgId, title, startsAt, endsAt } = window
    yield* run(
      `INSERT INTO incidents (id, org_id, kind, title, title_folded, display_id_folded, status, severity,
         created_at, updated_at, auto_managed, starts_at, ends_at)
       VALUES ($1, $2, 'maintenance', $3, $4, '', 'monitoring', 'degraded_performance', $5, $5, 0, $6, $7)`,
      [id, orgId, title, foldForSearch(title), now, startsAt, endsAt],
    )
    yield* insertServices(window)
  },
  update: function* (window, now) {
    const { id, title, startsAt, endsAt } = window
    yield* run(
      `UPDATE incidents SET title = $2, title_folded = $3, starts_at = $4, ends_at = $5, updated_at = $6
       WHERE id = $1`,
      [id, title, foldForSearch(title), startsAt, endsAt, now],
    )
    yield* run('DELETE FROM incident_services WHERE incident_id = $1', [id])
    yield* insertServices(window)
  },
}

function insertServices({ id, serviceIds }: MaintenanceWindow): Script<void> {
  const text = `INSERT INTO incident_services (incident_id, place, service_id)
    SELECT $1, key, value FROM json_each($2)`
  return run(text, [id, serviceIds])
}
