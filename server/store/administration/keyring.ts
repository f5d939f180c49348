import { ApiError } from '../../../api/contract/apiError.ts'
import { timestamp } from '../../domain/environment.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { assertOrg } from '../scripts/orgScripts.ts'
import { count, row, rows, run, type Scripts } from '../scripts/script.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { AdministrationStore, StoredKey } from '../store.ts'

/** Maximum number of keys of an organisation that are not revoked. Gap G31. */
const KEYS_MAX = 500

/** Administration of API keys. */
export function keyring({ read, withOrgLocked }: Scripts) {
  return {
    createKey: ({ id, orgId, hash, last4, scope, createdBy, note, by, nowMs }) =>
      withOrgLocked(orgId, orgNotFound(orgId), function* () {
        if ((yield* count('api_keys WHERE org_id = $1 AND revoked_at IS NULL', [orgId])) >= KEYS_MAX)
          throw new ApiError('invalid', `an organisation has at most ${KEYS_MAX} API keys: revoke one first`)
        yield* run(
          `INSERT INTO api_keys (id, org_id, key_hash, last4, scope, created_by, note, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
          [id, orgId, hash, last4, scope, createdBy, note, timestamp(nowMs)],
        )
        const detail = { last4, scope }
        yield* recordAction({ orgId, by, action: 'key.create', targetId: id, nowMs, detail })
      }),
    listKeys: (orgId) =>
      read(function* () {
        yield* assertOrg(orgId)
        return yield* rows<StoredKey>(
          `SELECT k.id, k.org_id AS "orgId", k.last4, k.scope, k.created_at AS "createdAt",
             k.revoked_at AS "revokedAt", k.created_by AS "createdBy", k.note, u.used_at_ms AS "usedAtMs",
             u.tool AS "usedBy"
           FROM api_keys k LEFT JOIN api_key_uses u ON u.key_id = k.id
           WHERE k.org_id = $1 ORDER BY k.created_at, k.id`,
          [orgId],
        )
      }),
    revokeKey: async ({ id, orgId, by, nowMs }) => {
      const select = 'SELECT org_id AS "orgId", last4 FROM api_keys WHERE id = $1'
      const key = await read(() => row<Pick<StoredKey, 'orgId' | 'last4'>>(select, [uuidOrNull(id)]))
      const notFound = new ApiError('not_found', `there is no key ${id}: "pharos-server key list" shows them`)
      if (key === undefined || (orgId !== undefined && key.orgId !== orgId)) throw notFound
      await withOrgLocked(key.orgId, notFound, function* () {
        const text = 'UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id'
        if ((yield* row(text, [id, timestamp(nowMs)])) === undefined) return
        const detail = { last4: key.last4 }
        yield* recordAction({ orgId: key.orgId, by, action: 'key.revoke', targetId: id, nowMs, detail })
      })
    },
  } satisfies Partial<AdministrationStore>
}
