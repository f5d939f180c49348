import type { KeyUseStore } from '../../store.ts'
import type { Mutations } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'

/** Key uses in SQLite. Recording them does not invalidate the cache of callers. */
export function sqliteKeyUses({ writer }: Connections, commits: Mutations): KeyUseStore {
  const use = writer.prepare(
    `INSERT INTO api_key_uses (key_id, used_at_ms, tool) SELECT id, ?, ? FROM api_keys WHERE id = ?
     ON CONFLICT (key_id) DO UPDATE SET used_at_ms = excluded.used_at_ms, tool = excluded.tool
       WHERE excluded.used_at_ms >= used_at_ms`,
  )
  return {
    recordKeyUses: (uses) =>
      commits.run(() => {
        for (const { keyId, atMs, tool } of uses) use.run(atMs, tool, keyId)
      }),
  }
}
