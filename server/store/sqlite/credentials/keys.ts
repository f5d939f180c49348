import type { Scope } from '../../../../api/contract/org.ts'
import type { Caller } from '../../../domain/apiKeys.ts'
import type { KeyStore } from '../../store.ts'
import { cacheUntilCommit } from '../commits/cacheUntilCommit.ts'
import type { CommittedVersion } from '../commits/committedVersion.ts'
import type { Connections } from '../files/openDatabase.ts'

interface CallerRow {
  readonly keyId: string
  readonly keyLast4: string
  readonly scope: Scope
  readonly orgId: string
  readonly orgName: string
  readonly plan: string
  readonly hasApiAccess: number
}

/** Maximum number of keys in the cache. */
const KEYS_KEPT = 10_000

/**
 * Keys in SQLite. Results are cached until administration, or any other process, commits: revoking a key or changing a
 * plan takes effect at the next request. Keys are read by the writing connection, which keeps its page cache after its
 * commits; the other connection drops it.
 */
export function sqliteKeys({ writer }: Connections, version: CommittedVersion): KeyStore {
  const select = writer.prepare<[Buffer], CallerRow>(`
    SELECT k.id AS keyId, k.last4 AS keyLast4, k.scope,
      o.id AS orgId, o.name AS orgName, o.plan, p.has_api_access AS hasApiAccess
    FROM api_keys k JOIN orgs o ON o.id = k.org_id JOIN plans p ON p.name = o.plan
    WHERE k.key_hash = ? AND k.revoked_at IS NULL`)
  const remember = cacheUntilCommit<Caller | undefined>(version, KEYS_KEPT, () => 1)
  return {
    callerOf: async (hash) =>
      remember(hash.toString('latin1'), () => {
        const row = select.get(hash)
        return row === undefined ? undefined : { ...row, hasApiAccess: row.hasApiAccess === 1 }
      }),
  }
}
