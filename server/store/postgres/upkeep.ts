import { removeExpired } from '../administration/expiredRows.ts'
import type { Scripts } from '../scripts/script.ts'
import { BUS_READER, type StoreStats, type UpkeepStore } from '../store.ts'
import { COMMAND_ORDER } from './commandOrder.ts'
import { rowOf } from './connections/sql.ts'
import { incompatible, VERSION_QUERY, type Version } from './schema/migrate.ts'
import { MIGRATIONS } from './schema/migrations.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Maintenance of the database. */
export function postgresUpkeep(
  { pools, queues }: StoreParts,
  scripts: Scripts,
  releaseLeases: () => Promise<void>,
): UpkeepStore {
  const { writeRepeatedly, read, admission } = pools
  return {
    assertDiskSpace: () => pools.assertDiskSpace(),
    probeWrite: async (nowMs) => {
      // Requests are admitted on connections of their own, which the database may refuse while others work.
      await admission.rows('SELECT 1')
      // When a newer release has contracted the schema, this one must not write.
      const beaten = await writeRepeatedly.rows(
        `INSERT INTO heartbeat SELECT true, $1::bigint FROM meta WHERE compatible_from <= $2
         ON CONFLICT (only_row) DO UPDATE SET beaten_at_ms = excluded.beaten_at_ms RETURNING only_row`,
        [nowMs, MIGRATIONS.length],
      )
      if (beaten.length > 0) return
      const version = await rowOf<Version>(read, VERSION_QUERY, [])
      if (version !== undefined) throw incompatible(version)
    },
    lastUseMs: async () => {
      const row = await rowOf<{ atMs: number }>(read, 'SELECT beaten_at_ms AS "atMs" FROM heartbeat', [])
      return row?.atMs
    },
    stats: async () => {
      const row = await rowOf<Omit<StoreStats, 'logBytes' | 'diskFreeBytes' | 'lastBackupAtMs'>>(
        read,
        `SELECT count(*) AS "unpublishedCommands", min(created_at_ms) AS "oldestUnpublishedAtMs",
           pg_database_size(current_database()) AS "databaseBytes"
         FROM commands c WHERE (c.xid, c.sequence) > (
           coalesce((SELECT xid FROM outbox_readers WHERE name = '${BUS_READER}'), '0'::xid8),
           coalesce((SELECT sequence FROM outbox_readers WHERE name = '${BUS_READER}'), 0))`,
        [],
      )
      const known = row ?? { unpublishedCommands: 0, oldestUnpublishedAtMs: null, databaseBytes: 0 }
      return { ...known, logBytes: null, diskFreeBytes: null, lastBackupAtMs: null }
    },
    tidy: (nowMs) => removeExpired(scripts, COMMAND_ORDER, nowMs),
    onOutage: (listener) => pools.onOutage(listener),
    onCommands: (listener) => queues.onWrite(listener),
    rejectWaiting: () => queues.rejectWaiting(),
    close: async () => {
      await queues.idle()
      // In a database that cannot be reached, the leases expire.
      await releaseLeases().catch(() => {})
      await pools.close()
    },
  }
}
