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
): Pick<
  AdministrationStore,
  'createMaintenance' | 'listMaintenance' | 'changeMaintenance' | 'cancelMaintenance'
> {
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
  const times = writer.prepare<[string, string], Pick<MaintenanceWindow, 'startsAt' | 'endsAt'>>(
    `SELECT starts_at AS startsAt, ends_at AS endsAt FROM incidents WHERE id = ? AND org_id = ? AND kind = 'maintenance'`,
  )
  const update = writer.prepare(
    'UPDATE incidents SET title = ?, title_folded = ?, starts_at = ?, ends_at = ?, updated_at = ? WHERE id = ?',
  )
  const removeServices = writer.prepare('DELETE FROM incident_services WHERE incident_id = ?')
  const remove = writer.prepare('DELETE FROM incidents WHERE id = ?')
  const found = ({ id, orgId }: { readonly id: string; readonly orgId: string }) => {
    const window = times.get(id, orgId)
    if (window === undefined) throw new ApiError('not_found', `there is no maintenance window ${id}`)
    return window
  }
  const assertOwn = ({ serviceIds, orgId }: MaintenanceWindow): void => {
    const foreign = serviceIds.find((serviceId) => ownService.get(serviceId, orgId) === undefined)
    if (foreign !== undefined) {
      throw new ApiError('not_found', `the organisation has no service ${foreign}`)
    }
  }
  return {
    createMaintenance: (window, by, nowMs) =>
      commits.run(() => {
        const { id, orgId, title, startsAt, endsAt, serviceIds } = window
        assertOwn(window)
        const now = timestamp(nowMs)
        insert.run(id, orgId, title, foldForSearch(title), now, now, startsAt, endsAt)
        for (const [place, serviceId] of serviceIds.entries()) insertService.run(id, place, serviceId)
        const detail = { title, starts_at: startsAt, ends_at: endsAt }
        note({ orgId, by, action: 'maintenance.create', targetId: id, nowMs, detail })
      }),
    changeMaintenance: (window, by, nowMs) =>
      commits.run(() => {
        const { id, orgId, title, startsAt, endsAt, serviceIds } = window
        const now = timestamp(nowMs)
        if (found(window).endsAt <= now) throw new ApiError('invalid', 'the window has ended')
        assertOwn(window)
        update.run(title, foldForSearch(title), startsAt, endsAt, now, id)
        removeServices.run(id)
        for (const [place, serviceId] of serviceIds.entries()) insertService.run(id, place, serviceId)
        const detail = { title, starts_at: startsAt, ends_at: endsAt }
        note({ orgId, by, action: 'maintenance.update', targetId: id, nowMs, detail })
      }),
    cancelMaintenance: ({ id, orgId }, by, nowMs) =>
      commits.run(() => {
        if (found({ id, orgId }).startsAt <= timestamp(nowMs)) {
          throw new ApiError('invalid', 'the window has begun: end it instead')
        }
        removeServices.run(id)
        remove.run(id)
        note({ orgId, by, action: 'maintenance.cancel', targetId: id, nowMs })
      }),
    listMaintenance: async (orgId) => {
      if (known.get(orgId) === undefined) throw noOrg(orgId)
      return list.all(orgId).map((window) => ({ ...window, serviceIds: services.all(window.id) }))
    },
  }
}
