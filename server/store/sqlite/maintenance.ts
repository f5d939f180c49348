import { ApiError } from '../../../api/contract/apiError.ts'
import { timestamp } from '../../domain/environment.ts'
import type { NotedWrites } from './changes/audit.ts'
import { noOrg } from '../shared/noOrg.ts'
import type { Connections } from './files/openDatabase.ts'
import { foldForSearch } from '../shared/searchText.ts'
import type { AdministrationStore, MaintenanceWindow } from '../store.ts'

/** Maintenance windows, in the table of the incidents (Contract: Rules, 4). */
export function sqliteMaintenance(
  { reader, writer }: Connections,
  { commits, note }: NotedWrites,
): Pick<AdministrationStore, 'createMaintenance' | 'listMaintenance'> {
  const ownService = writer
    .prepare<[string, string], string>('SELECT id FROM services WHERE id = ? AND org_id = ?')
    .pluck()
  const insert = writer.prepare(`
    INSERT INTO incidents (id, org_id, kind, number, title, title_folded, display_id_folded, status,
      severity, created_at, updated_at, auto_managed, starts_at, ends_at)
    VALUES (?, ?, 'maintenance', NULL, ?, ?, '', 'monitoring', 'degraded_performance', ?, ?, 0, ?, ?)`)
  const insertService = writer.prepare(
    'INSERT INTO incident_services (incident_id, place, service_id) VALUES (?, ?, ?)',
  )
  const known = reader.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const list = reader.prepare<[string], Omit<MaintenanceWindow, 'serviceIds'>>(`
    SELECT id, org_id AS orgId, title, starts_at AS startsAt, ends_at AS endsAt
    FROM incidents WHERE org_id = ? AND kind = 'maintenance' ORDER BY starts_at, id`)
  const services = reader
    .prepare<[string], string>(
      'SELECT service_id FROM incident_services WHERE incident_id = ? ORDER BY place',
    )
    .pluck()
  return {
    createMaintenance: (window, by, nowMs) =>
      commits.run(() => {
        const { id, orgId, title, startsAt, endsAt, serviceIds } = window
        const foreign = serviceIds.find((serviceId) => ownService.get(serviceId, orgId) === undefined)
        if (foreign !== undefined) {
          throw new ApiError('not_found', `the organisation has no service ${foreign}`)
        }
        const now = timestamp(nowMs)
        insert.run(id, orgId, title, foldForSearch(title), now, now, startsAt, endsAt)
        for (const [place, serviceId] of serviceIds.entries()) insertService.run(id, place, serviceId)
        const detail = { title, starts_at: startsAt, ends_at: endsAt }
        note({ orgId, by, action: 'maintenance.create', targetId: id, nowMs, detail })
      }),
    listMaintenance: async (orgId) => {
      if (known.get(orgId) === undefined) throw noOrg(orgId)
      return list.all(orgId).map((window) => ({ ...window, serviceIds: services.all(window.id) }))
    },
  }
}
