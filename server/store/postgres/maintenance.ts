import { ApiError } from '../../../api/contract/apiError.ts'
import type { Actor } from '../../domain/accounts/actor.ts'
import { timestamp } from '../../domain/environment.ts'
import { assertChangeable } from '../shared/assertChangeable.ts'
import { noOrg } from '../shared/noOrg.ts'
import { foldForSearch } from '../shared/searchText.ts'
import type { AdministrationStore, MaintenanceWindow } from '../store.ts'
import { AUDIT_COLUMNS, auditParameters, auditValues } from './writes/auditWrites.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf, type Sql, uuidOrNull, uuidsIn } from './connections/sql.ts'

const WINDOW_COLUMNS =
  'id, org_id AS "orgId", title, starts_at AS "startsAt", ends_at AS "endsAt", service_ids AS "serviceIds"'

type Methods = 'createMaintenance' | 'listMaintenance' | 'changeMaintenance' | 'cancelMaintenance'

/** Maintenance windows, in the table of the incidents (Contract: Rules, 4). */
export function postgresMaintenance({
  read,
  inTransaction,
}: Pick<Pools, 'read' | 'inTransaction'>): Pick<AdministrationStore, Methods> {
  return {
    createMaintenance: (window, by, nowMs) =>
      inTransaction(async (sql) => {
        await assertOwn(sql, window)
        const { id, orgId, title, startsAt, endsAt, serviceIds } = window
        await sql.rows(
          `INSERT INTO incidents (id, org_id, kind, title, title_folded, display_id_folded, status, severity,
             created_at, updated_at, auto_managed, starts_at, ends_at, service_ids)
           VALUES ($1, $2, 'maintenance', $3, $4, '', 'monitoring', 'degraded_performance', $5, $5, false, $6, $7, $8)`,
          [id, orgId, title, foldForSearch(title), timestamp(nowMs), startsAt, endsAt, serviceIds],
        )
        await note(sql, 'create', window, by, nowMs)
      }),
    changeMaintenance: (window, by, nowMs, seen) =>
      inTransaction(async (sql) => {
        const now = timestamp(nowMs)
        assertChangeable(await found(sql, window), now, seen)
        await assertOwn(sql, window)
        const { id, title, startsAt, endsAt, serviceIds } = window
        await sql.rows(
          `UPDATE incidents SET title = $2, title_folded = $3, starts_at = $4, ends_at = $5, updated_at = $6,
             service_ids = $7 WHERE id = $1`,
          [id, title, foldForSearch(title), startsAt, endsAt, now, serviceIds],
        )
        await note(sql, 'update', window, by, nowMs)
      }),
    cancelMaintenance: ({ id, orgId }, by, nowMs) =>
      inTransaction(async (sql) => {
        if ((await found(sql, { id, orgId })).startsAt <= timestamp(nowMs)) {
          throw new ApiError('invalid', 'the window has begun: end it instead')
        }
        await sql.rows('DELETE FROM incidents WHERE id = $1', [id])
        await note(sql, 'cancel', { id, orgId }, by, nowMs)
      }),
    listMaintenance: async (orgId) => {
      const id = uuidOrNull(orgId)
      const known = await rowOf(read, 'SELECT id FROM orgs WHERE id = $1', [id])
      if (known === undefined) throw noOrg(orgId)
      return await read.rows<MaintenanceWindow>(
        `SELECT ${WINDOW_COLUMNS}
         FROM incidents WHERE org_id = $1 AND kind = 'maintenance' ORDER BY starts_at, id`,
        [id],
      )
    },
  }
}

/** A window, which stays as it is until the end of the transaction. */
async function found(sql: Sql, { id, orgId }: { readonly id: string; readonly orgId: string }) {
  const window = await rowOf<MaintenanceWindow>(
    sql,
    `SELECT ${WINDOW_COLUMNS} FROM incidents
     WHERE id = $1 AND org_id = $2 AND kind = 'maintenance' FOR UPDATE`,
    [uuidOrNull(id), uuidOrNull(orgId)],
  )
  if (window === undefined) throw new ApiError('not_found', `there is no maintenance window ${id}`)
  return window
}

async function assertOwn(sql: Sql, { orgId, serviceIds }: MaintenanceWindow): Promise<void> {
  const rows = await sql.rows<{ id: string }>(
    'SELECT id FROM services WHERE org_id = $1 AND id = ANY($2::uuid[])',
    [uuidOrNull(orgId), uuidsIn(serviceIds)],
  )
  const foreign = serviceIds.find((serviceId) => !rows.some(({ id }) => id === serviceId))
  if (foreign !== undefined) throw new ApiError('not_found', `the organisation has no service ${foreign}`)
}

async function note(
  sql: Sql,
  action: 'create' | 'update' | 'cancel',
  window: Pick<MaintenanceWindow, 'id' | 'orgId'> & Partial<MaintenanceWindow>,
  by: Actor,
  nowMs: number,
): Promise<void> {
  const { id, orgId, title, startsAt, endsAt } = window
  const detail = title === undefined ? {} : { title, starts_at: startsAt, ends_at: endsAt }
  await sql.rows(`INSERT INTO audit (org_id, ${AUDIT_COLUMNS}) VALUES ($1, ${auditParameters(2)})`, [
    orgId,
    ...auditValues({ by, action: `maintenance.${action}`, targetId: id, nowMs, detail }),
  ])
}
