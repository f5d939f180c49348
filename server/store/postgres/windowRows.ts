import type { WindowRows } from '../administration/maintenance.ts'
import { run } from '../scripts/script.ts'
import { foldForSearch } from '../shared/searchText.ts'

/** The services of windows, as a column. */
export const WINDOW_ROWS: WindowRows = {
  serviceIds: 'service_ids',
  insert: ({ id, orgId, title, startsAt, endsAt, serviceIds }, now) =>
    run(
      `INSERT INTO incidents (id, org_id, kind, title, title_folded, display_id_folded, status, severity,
         created_at, updated_at, auto_managed, starts_at, ends_at, service_ids)
       VALUES ($1, $2, 'maintenance', $3, $4, '', 'monitoring', 'degraded_performance', $5, $5, false, $6, $7, $8)`,
      [id, orgId, title, foldForSearch(title), now, startsAt, endsAt, serviceIds],
    ),
  update: ({ id, title, startsAt, endsAt, serviceIds }, now) =>
    run(
      `UPDATE incidents SET title = $2, title_folded = $3, starts_at = $4, ends_at = $5, updated_at = $6,
         service_ids = $7 WHERE id = $1`,
      [id, title, foldForSearch(title), startsAt, endsAt, now, serviceIds],
    ),
}
