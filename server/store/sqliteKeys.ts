import { timingSafeEqual } from 'node:crypto'
import type { Scope } from '../../api/contract/org.ts'
import type { Connections } from './openDatabase.ts'
import type { KeyStore } from './store.ts'

interface CallerRow {
  readonly keyHash: Buffer
  readonly keyId: string
  readonly keyLast4: string
  readonly scope: Scope
  readonly orgId: string
  readonly orgName: string
  readonly plan: string
  readonly hasApiAccess: number
}

/** Keys in SQLite, never cached: revoking one, or changing a plan, holds for the next request. */
export function sqliteKeys({ reader }: Connections): KeyStore {
  const select = reader.prepare<[Buffer], CallerRow>(`
    SELECT k.key_hash AS keyHash, k.id AS keyId, k.last4 AS keyLast4, k.scope,
      o.id AS orgId, o.name AS orgName, o.plan, p.has_api_access AS hasApiAccess
    FROM api_keys k JOIN orgs o ON o.id = k.org_id JOIN plans p ON p.name = o.plan
    WHERE k.key_hash = ? AND k.revoked_at IS NULL`)
  return {
    callerOf: async (hash) => {
      const row = select.get(hash)
      if (row === undefined || !timingSafeEqual(row.keyHash, hash)) return undefined
      const { keyId, keyLast4, scope, orgId, orgName, plan } = row
      return { keyId, keyLast4, scope, orgId, orgName, plan, hasApiAccess: row.hasApiAccess === 1 }
    },
  }
}
