import type { Caller } from '../../../domain/apiKeys.ts'
import { SELECT_CALLER } from '../../shared/callerQuery.ts'
import type { KeyStore } from '../../store.ts'
import { cacheUntilCommit } from '../commits/cacheUntilCommit.ts'
import type { CommittedVersion } from '../commits/committedVersion.ts'
import type { Connections } from '../files/openDatabase.ts'

/** Maximum number of keys in the cache. */
const KEYS_KEPT = 10_000

/**
 * Keys in SQLite. Results are cached until administration, or any other process, commits: revoking a key or changing a
 * plan takes effect at the next request. Keys are read by the writing connection, which keeps its page cache after its
 * commits; the other connection drops it.
 */
export function sqliteKeys({ writer }: Connections, version: CommittedVersion): KeyStore {
  const select = writer.prepare<[{ 1: Buffer }], Omit<Caller, 'hasApiAccess'> & { hasApiAccess: number }>(
    SELECT_CALLER,
  )
  const remember = cacheUntilCommit<Caller | undefined>(version, KEYS_KEPT, () => 1)
  return {
    callerOf: async (hash) =>
      remember(hash.toString('latin1'), () => {
        const row = select.get({ 1: hash })
        return row === undefined ? undefined : { ...row, hasApiAccess: row.hasApiAccess === 1 }
      }),
  }
}
