import { run, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { KeyUseStore } from '../store.ts'

/** The last use of each API key. */
export function keyUses({ write }: Scripts): KeyUseStore {
  return {
    recordKeyUses: async (uses) => {
      // One row for each key, the newest: a statement must not write a row twice.
      const newest = new Map(uses.toSorted((a, b) => a.atMs - b.atMs).map((use) => [use.keyId, use]))
      const recorded = [...newest.values()].filter(({ keyId }) => uuidOrNull(keyId) !== null)
      if (recorded.length === 0) return
      await write(() =>
        run(
          `INSERT INTO api_key_uses AS known (key_id, used_at_ms, tool)
           SELECT k.id, (value ->> 'atMs')::bigint, value ->> 'tool'
           FROM json_array_elements($1::json) JOIN api_keys k ON k.id = (value ->> 'keyId')::uuid ORDER BY k.id
           ON CONFLICT (key_id) DO UPDATE SET used_at_ms = excluded.used_at_ms, tool = excluded.tool
             WHERE excluded.used_at_ms >= known.used_at_ms`,
          [JSON.stringify(recorded)],
        ),
      )
    },
  }
}
