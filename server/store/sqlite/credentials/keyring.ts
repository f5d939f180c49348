import { timestamp } from '../../../domain/environment.ts'
import { assertMayAddKey, keyNotFound } from '../../shared/keyRules.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import type { AdministrationStore, StoredKey } from '../../store.ts'
import type { AuditedWrites } from '../changes/audit.ts'
import type { Connections } from '../files/openDatabase.ts'

type Methods = 'createKey' | 'listKeys' | 'revokeKey'

/** Administration of keys in SQLite. */
export function sqliteKeyring(
  { reader, writer }: Connections,
  { commits, note }: AuditedWrites,
): Pick<AdministrationStore, Methods> {
  const org = writer.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const active = writer
    .prepare<[string], number>('SELECT count(*) FROM api_keys WHERE org_id = ? AND revoked_at IS NULL')
    .pluck()
  const insert = writer.prepare(`
    INSERT INTO api_keys (id, org_id, key_hash, last4, scope, created_by, note, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  const known = reader.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const list = reader.prepare<[string], StoredKey>(`
    SELECT k.id, k.org_id AS orgId, k.last4, k.scope, k.created_at AS createdAt, k.revoked_at AS revokedAt,
      k.created_by AS createdBy, k.note, u.used_at_ms AS usedAtMs, u.tool AS usedBy
    FROM api_keys k LEFT JOIN api_key_uses u ON u.key_id = k.id
    WHERE k.org_id = ? ORDER BY k.created_at, k.id`)
  const find = writer.prepare<[string], Pick<StoredKey, 'orgId' | 'last4' | 'revokedAt'>>(
    'SELECT org_id AS orgId, last4, revoked_at AS revokedAt FROM api_keys WHERE id = ?',
  )
  const revoke = writer.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ?')
  return {
    createKey: ({ id, orgId, hash, last4, scope, createdBy, note: text, by, nowMs }) =>
      commits.run(() => {
        if (org.get(orgId) === undefined) throw orgNotFound(orgId)
        assertMayAddKey(active.get(orgId) ?? 0)
        insert.run(id, orgId, hash, last4, scope, createdBy, text, timestamp(nowMs))
        note({ orgId, by, action: 'key.create', targetId: id, nowMs, detail: { last4, scope } })
      }),
    listKeys: async (orgId) => {
      if (known.get(orgId) === undefined) throw orgNotFound(orgId)
      return list.all(orgId)
    },
    revokeKey: ({ id, orgId, by, nowMs }) =>
      commits.run(() => {
        const key = find.get(id)
        if (key === undefined || (orgId !== undefined && key.orgId !== orgId)) throw keyNotFound(id)
        if (key.revokedAt !== null) return
        revoke.run(timestamp(nowMs), id)
        const detail = { last4: key.last4 }
        note({ orgId: key.orgId, by, action: 'key.revoke', targetId: id, nowMs, detail })
      }),
  }
}
