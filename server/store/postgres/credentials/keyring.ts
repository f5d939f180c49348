import { timestamp } from '../../../domain/environment.ts'
import { assertMayAddKey, keyNotFound } from '../../shared/keyRules.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import { uuidOrNull } from '../../shared/uuid.ts'
import type { AdministrationStore, StoredKey } from '../../store.ts'
import { countOf, rowOf } from '../connections/sql.ts'
import { AUDIT_COLUMNS, auditParameters, auditValues, recordAction } from '../writes/auditWrites.ts'
import { assertOrg } from '../writes/ownership.ts'
import type { StoreParts } from '../writes/storeParts.ts'

/** Administration of keys in PostgreSQL. */
export function postgresKeyring({
  pools: { write, read },
  queues,
}: StoreParts): Pick<AdministrationStore, 'createKey' | 'listKeys' | 'revokeKey'> {
  return {
    createKey: ({ id, orgId, hash, last4, scope, createdBy, note, by, nowMs }) =>
      queues.withOrgLocked(orgId, orgNotFound(orgId), async (sql) => {
        assertMayAddKey(await countOf(sql, 'api_keys WHERE org_id = $1 AND revoked_at IS NULL', [orgId]))
        await sql.rows(
          `INSERT INTO api_keys (id, org_id, key_hash, last4, scope, created_by, note, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
          [id, orgId, hash, last4, scope, createdBy, note, timestamp(nowMs)],
        )
        const detail = { last4, scope }
        await recordAction(sql, { orgId, by, action: 'key.create', targetId: id, nowMs, detail })
      }),
    listKeys: async (orgId) => {
      const id = uuidOrNull(orgId)
      await assertOrg(read, orgId)
      return await read.rows<StoredKey>(
        `SELECT k.id, k.org_id AS "orgId", k.last4, k.scope, k.created_at AS "createdAt",
           k.revoked_at AS "revokedAt", k.created_by AS "createdBy", k.note, u.used_at_ms AS "usedAtMs",
           u.tool AS "usedBy"
         FROM api_keys k LEFT JOIN api_key_uses u ON u.key_id = k.id
         WHERE k.org_id = $1 ORDER BY k.created_at, k.id`,
        [id],
      )
    },
    revokeKey: async ({ id, orgId, by, nowMs }) => {
      const keyId = uuidOrNull(id)
      const key = await rowOf<Pick<StoredKey, 'orgId' | 'last4'>>(
        read,
        'SELECT org_id AS "orgId", last4 FROM api_keys WHERE id = $1',
        [keyId],
      )
      if (key === undefined || (orgId !== undefined && key.orgId !== orgId)) throw keyNotFound(id)
      const audited = { by, action: 'key.revoke', targetId: id, nowMs, detail: { last4: key.last4 } }
      await write.rows(
        `WITH revoked AS (UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING org_id)
         INSERT INTO audit (org_id, ${AUDIT_COLUMNS}) SELECT org_id, ${auditParameters(3)} FROM revoked`,
        [keyId, timestamp(nowMs), ...auditValues(audited)],
      )
    },
  }
}
