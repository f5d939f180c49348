import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import { row, type Script } from './script.ts'

/** Throws `not_found` when there is no such organisation. */
export function* assertOrg(orgId: string): Script<void> {
  const org = yield* row('SELECT id FROM orgs WHERE id = $1', [uuidOrNull(orgId)])
  if (org === undefined) throw orgNotFound(orgId)
}
