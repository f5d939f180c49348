import { timestamp } from '../../domain/environment.ts'
import {
  assertChangeable,
  assertNotBegun,
  assertMayAddWindow,
  windowAction,
  windowNotFound,
} from '../shared/maintenanceRules.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { foldForSearch } from '../shared/searchText.ts'
import { serviceNotFound } from '../shared/serviceNotFound.ts'
import type { AdministrationStore, MaintenanceWindow } from '../store.ts'
import type { AuditedWrites } from './changes/audit.ts'
import type { Connections } from './files/openDatabase.ts'

const COLUMNS = 'id, org_id AS orgId, title, starts_at AS startsAt, ends_at AS endsAt'
const OF_ORG = "FROM incidents WHERE org_id = ? AND kind = 'maintenance'"

type Row = Omit<MaintenanceWindow, 'serviceIds'>

/** Maintenance windows, in the table of the incidents (Contract: Rules, 4). */
export function sqliteMaintenance(
  { reader, writer }: Connections,
  { commits, note }: AuditedWrites,
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
  const list = reader.prepare<[string, string], Row>(
    `SELECT ${COLUMNS} ${OF_ORG} AND ends_at > ? ORDER BY starts_at, id`,
  )
  const listEnded = reader.prepare<[string, string, number], Row>(
    `SELECT * FROM (SELECT ${COLUMNS} ${OF_ORG} AND ends_at <= ? ORDER BY ends_at DESC, id LIMIT ?) ORDER BY startsAt, id`,
  )
  const open = writer.prepare<[string, string], number>(`SELECT count(*) ${OF_ORG} AND ends_at > ?`).pluck()
  const services = reader
    .prepare<[string], string>(
      'SELECT service_id FROM incident_services WHERE incident_id = ? ORDER BY place',
    )
    .pluck()
  const one = writer.prepare<[string, string], Row>(
    `SELECT ${COLUMNS} FROM incidents WHERE id = ? AND org_id = ? AND kind = 'maintenance'`,
  )
  const servicesNow = writer
    .prepare<[string], string>('SELECT service_id FROM incident_services WHERE incident_id = ?')
    .pluck()
  const update = writer.prepare(
    'UPDATE incidents SET title = ?, title_folded = ?, starts_at = ?, ends_at = ?, updated_at = ? WHERE id = ?',
  )
  const removeServices = writer.prepare('DELETE FROM incident_services WHERE incident_id = ?')
  const remove = writer.prepare('DELETE FROM incidents WHERE id = ?')
  const found = ({ id, orgId }: { readonly id: string; readonly orgId: string }) => {
    const window = one.get(id, orgId)
    if (window === undefined) throw windowNotFound(id)
    return { ...window, serviceIds: servicesNow.all(window.id) }
  }
  const assertOwn = ({ serviceIds, orgId }: MaintenanceWindow): void => {
    const foreign = serviceIds.find((serviceId) => ownService.get(serviceId, orgId) === undefined)
    if (foreign !== undefined) throw serviceNotFound(foreign)
  }
  return {
    createMaintenance: (window, by, nowMs) =>
      commits.run(() => {
        const { id, orgId, title, startsAt, endsAt, serviceIds } = window
        assertOwn(window)
        const now = timestamp(nowMs)
        assertMayAddWindow(open.get(orgId, now) ?? 0)
        insert.run(id, orgId, title, foldForSearch(title), now, now, startsAt, endsAt)
        for (const [place, serviceId] of serviceIds.entries()) insertService.run(id, place, serviceId)
        note(windowAction('create', window, by, nowMs))
      }),
    changeMaintenance: (window, by, nowMs, seen) =>
      commits.run(() => {
        const { id, title, startsAt, endsAt, serviceIds } = window
        const now = timestamp(nowMs)
        assertChangeable(found(window), now, seen)
        assertOwn(window)
        update.run(title, foldForSearch(title), startsAt, endsAt, now, id)
        removeServices.run(id)
        for (const [place, serviceId] of serviceIds.entries()) insertService.run(id, place, serviceId)
        note(windowAction('update', window, by, nowMs))
      }),
    cancelMaintenance: ({ id, orgId }, by, nowMs) =>
      commits.run(() => {
        assertNotBegun(found({ id, orgId }).startsAt, timestamp(nowMs))
        removeServices.run(id)
        remove.run(id)
        note(windowAction('cancel', { id, orgId }, by, nowMs))
      }),
    listMaintenance: async (orgId, which = { endsAfter: '' }) => {
      if (known.get(orgId) === undefined) throw orgNotFound(orgId)
      const rows =
        'endsAfter' in which
          ? list.all(orgId, which.endsAfter)
          : listEnded.all(orgId, which.endedBy, which.countMax)
      return rows.map((window) => ({ ...window, serviceIds: services.all(window.id) }))
    },
  }
}
