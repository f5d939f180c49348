import { timestamp } from '../../domain/environment.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { assertOrg, assertOwnServices } from '../scripts/orgScripts.ts'
import {
  assertChangeable,
  assertNotBegun,
  assertMayAddWindow,
  windowAction,
  windowNotFound,
} from '../shared/maintenanceRules.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { foldForSearch } from '../shared/searchText.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { AdministrationStore, MaintenanceWindow } from '../store.ts'
import { countOf, rowOf, type Sql } from './connections/sql.ts'
import { execute } from './postgresScripts.ts'
import type { StoreParts } from './writes/storeParts.ts'

const WINDOW_COLUMNS =
  'id, org_id AS "orgId", title, starts_at AS "startsAt", ends_at AS "endsAt", service_ids AS "serviceIds"'
const OF_ORG = "FROM incidents WHERE org_id = $1 AND kind = 'maintenance'"

type Methods = 'createMaintenance' | 'listMaintenance' | 'changeMaintenance' | 'cancelMaintenance'

/** Maintenance windows, in the table of the incidents (Contract: Rules, 4). */
export function postgresMaintenance({
  pools: { read },
  queues,
}: StoreParts): Pick<AdministrationStore, Methods> {
  return {
    createMaintenance: (window, by, nowMs) =>
      queues.withOrgLocked(window.orgId, orgNotFound(window.orgId), async (sql) => {
        await execute(sql, assertOwnServices(window.orgId, window.serviceIds))
        const { id, orgId, title, startsAt, endsAt, serviceIds } = window
        const now = timestamp(nowMs)
        const open = "incidents WHERE org_id = $1 AND kind = 'maintenance' AND ends_at > $2"
        assertMayAddWindow(await countOf(sql, open, [orgId, now]))
        await sql.rows(
          `INSERT INTO incidents (id, org_id, kind, title, title_folded, display_id_folded, status, severity,
             created_at, updated_at, auto_managed, starts_at, ends_at, service_ids)
           VALUES ($1, $2, 'maintenance', $3, $4, '', 'monitoring', 'degraded_performance', $5, $5, false, $6, $7, $8)`,
          [id, orgId, title, foldForSearch(title), now, startsAt, endsAt, serviceIds],
        )
        await execute(sql, recordAction(windowAction('create', window, by, nowMs)))
      }),
    changeMaintenance: (window, by, nowMs, seen) =>
      queues.withOrgLocked(window.orgId, windowNotFound(window.id), async (sql) => {
        const now = timestamp(nowMs)
        assertChangeable(await found(sql, window), now, seen)
        await execute(sql, assertOwnServices(window.orgId, window.serviceIds))
        const { id, title, startsAt, endsAt, serviceIds } = window
        await sql.rows(
          `UPDATE incidents SET title = $2, title_folded = $3, starts_at = $4, ends_at = $5, updated_at = $6,
             service_ids = $7 WHERE id = $1`,
          [id, title, foldForSearch(title), startsAt, endsAt, now, serviceIds],
        )
        await execute(sql, recordAction(windowAction('update', window, by, nowMs)))
      }),
    cancelMaintenance: ({ id, orgId }, by, nowMs) =>
      queues.withOrgLocked(orgId, windowNotFound(id), async (sql) => {
        assertNotBegun((await found(sql, { id, orgId })).startsAt, timestamp(nowMs))
        await sql.rows('DELETE FROM incidents WHERE id = $1', [id])
        await execute(sql, recordAction(windowAction('cancel', { id, orgId }, by, nowMs)))
      }),
    listMaintenance: async (orgId, which = { endsAfter: '' }) => {
      const id = uuidOrNull(orgId)
      await execute(read, assertOrg(orgId))
      return 'endsAfter' in which
        ? await read.rows<MaintenanceWindow>(
            `SELECT ${WINDOW_COLUMNS} ${OF_ORG} AND ends_at > $2 ORDER BY starts_at, id`,
            [id, which.endsAfter],
          )
        : await read.rows<MaintenanceWindow>(
            `SELECT * FROM (SELECT ${WINDOW_COLUMNS} ${OF_ORG} AND ends_at <= $2 ORDER BY ends_at DESC, id LIMIT $3) newest
             ORDER BY "startsAt", id`,
            [id, which.endedBy, which.countMax],
          )
    },
  }
}

/** The window of this id. The caller has locked the organisation. */
async function found(sql: Sql, { id, orgId }: { readonly id: string; readonly orgId: string }) {
  const window = await rowOf<MaintenanceWindow>(
    sql,
    `SELECT ${WINDOW_COLUMNS} FROM incidents WHERE id = $1 AND org_id = $2 AND kind = 'maintenance'`,
    [uuidOrNull(id), uuidOrNull(orgId)],
  )
  if (window === undefined) throw windowNotFound(id)
  return window
}
