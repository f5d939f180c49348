import type { NamedOrg } from '../../domain/notifications/payload.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { serviceNotFound } from '../shared/serviceNotFound.ts'
import { uuidOrNull, uuidsIn } from '../shared/uuid.ts'
import { row, rows, type Script } from './script.ts'

/** Throws `not_found` when there is no such organisation. */
export function* assertOrg(orgId: string): Script<void> {
  const org = yield* row('SELECT id FROM orgs WHERE id = $1', [uuidOrNull(orgId)])
  if (org === undefined) throw orgNotFound(orgId)
}

/** An organisation with its name, for events. */
export function* namedOrg(orgId: string): Script<NamedOrg> {
  const org = yield* row<NamedOrg>('SELECT id, name FROM orgs WHERE id = $1', [orgId])
  return org ?? { id: orgId, name: '' }
}

/** Throws `not_found` when one of `ids` is no service of the organisation. */
export function* assertOwnServices(orgId: string, ids: readonly string[]): Script<void> {
  if (ids.length === 0) return
  const own = yield* rows<{ id: string }>(
    `SELECT id FROM services
     WHERE org_id = $1 AND id IN (SELECT value::uuid FROM json_array_elements_text($2::json))`,
    [uuidOrNull(orgId), JSON.stringify(uuidsIn(ids))],
  )
  const foreign = ids.find((id) => !own.some((service) => service.id === id))
  if (foreign !== undefined) throw serviceNotFound(foreign)
}
