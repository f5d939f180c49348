import { orgNotFound } from '../../shared/orgNotFound.ts'
import { serviceNotFound } from '../../shared/serviceNotFound.ts'
import { uuidOrNull, uuidsIn } from '../../shared/uuid.ts'
import { rowOf, type Sql } from '../connections/sql.ts'

/** Rejects with `not_found` when there is no such organisation. */
export async function assertOrg(sql: Sql, orgId: string): Promise<void> {
  const org = await rowOf(sql, 'SELECT id FROM orgs WHERE id = $1', [uuidOrNull(orgId)])
  if (org === undefined) throw orgNotFound(orgId)
}

/** Those of `ids` that are services of the organisation. */
export async function ownServices(
  sql: Sql,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql.rows<{ id: string }>(
    'SELECT id FROM services WHERE org_id = $1 AND id = ANY($2::uuid[])',
    [uuidOrNull(orgId), uuidsIn(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Rejects with `not_found` when one of `ids` is no service of the organisation. */
export async function assertOwnServices(sql: Sql, orgId: string, ids: readonly string[]): Promise<void> {
  const own = await ownServices(sql, orgId, ids)
  const foreign = ids.find((id) => !own.has(id))
  if (foreign !== undefined) throw serviceNotFound(foreign)
}
