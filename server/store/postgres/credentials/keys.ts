import type { Caller } from '../../../domain/apiKeys.ts'
import { uuidOrNull } from '../../shared/uuid.ts'
import type { KeyStore, KeyUseStore } from '../../store.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf } from '../connections/sql.ts'

/** Selects a Caller by the hash of its key, `$1`. */
export const SELECT_CALLER = `
  SELECT k.id AS "keyId", k.last4 AS "keyLast4", k.scope, o.id AS "orgId", o.name AS "orgName", o.plan,
    p.has_api_access AS "hasApiAccess"
  FROM api_keys k JOIN orgs o ON o.id = k.org_id JOIN plans p ON p.name = o.plan
  WHERE k.key_hash = $1 AND k.revoked_at IS NULL`

/** Keys in PostgreSQL. Nothing is cached: another process may have revoked a key. */
export function postgresKeys({ write, read }: Pick<Pools, 'write' | 'read'>): KeyStore & KeyUseStore {
  return {
    callerOf: (hash) => rowOf<Caller>(read, SELECT_CALLER, [hash]),
    recordKeyUses: async (uses) => {
      // One row for each key, the newest: a statement must not write a row twice.
      const newest = new Map(uses.toSorted((a, b) => a.atMs - b.atMs).map((use) => [use.keyId, use]))
      const rows = [...newest.values()].filter(({ keyId }) => uuidOrNull(keyId) !== null)
      if (rows.length === 0) return
      await write.rows(
        `INSERT INTO api_key_uses AS known (key_id, used_at_ms, tool)
         SELECT u.key_id, u.used_at_ms, u.tool
         FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS u(key_id, used_at_ms, tool)
         JOIN api_keys k ON k.id = u.key_id ORDER BY u.key_id
         ON CONFLICT (key_id) DO UPDATE SET used_at_ms = excluded.used_at_ms, tool = excluded.tool
           WHERE excluded.used_at_ms >= known.used_at_ms`,
        [rows.map(({ keyId }) => keyId), rows.map(({ atMs }) => atMs), rows.map(({ tool }) => tool)],
      )
    },
  }
}
