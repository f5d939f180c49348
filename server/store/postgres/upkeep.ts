import { timestamp } from '../../domain/environment.ts'
import { removeExpired } from '../administration/expiredRows.ts'
import type { Scripts } from '../scripts/script.ts'
import { AUDIT_ENTRIES_MAX, AUDIT_KEPT_MS } from '../shared/auditedAction.ts'
import { BUS_READER, type StoreStats, type UpkeepStore } from '../store.ts'
import { rowOf, type SqlValue } from './connections/sql.ts'
import { removeEndedEndpoints } from './endedEndpoints.ts'
import { incompatible, VERSION_QUERY, type Version } from './schema/migrate.ts'
import { MIGRATIONS } from './schema/migrations.ts'
import type { StoreParts } from './writes/storeParts.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** Retention of published commands, for inspection (milliseconds). */
const COMMANDS_KEPT_MS = 7 * DAY_MS
/** Maximum number of rows deleted in one statement. */
const DELETED_AT_ONCE = 1_000

type Deletion = readonly [text: string, ...values: SqlValue[]]

/** Deletions of superfluous rows at `nowMs`, each of at most DELETED_AT_ONCE; several programs may run them at once. */
function deletions(nowMs: number): readonly Deletion[] {
  return [
    [
      `DELETE FROM commands WHERE created_at_ms < $1 AND sequence IN
         (SELECT c.sequence FROM commands c JOIN outbox_readers r ON r.name = '${BUS_READER}'
          WHERE (c.xid, c.sequence) <= (r.xid, r.sequence) ORDER BY c.xid, c.sequence LIMIT ${DELETED_AT_ONCE})`,
      nowMs - COMMANDS_KEPT_MS,
    ],
    [
      `DELETE FROM past_generations WHERE sequence IN
         (SELECT g.sequence FROM orgs o JOIN plans p ON p.name = o.plan JOIN past_generations g ON g.org_id = o.id
            AND g.until_ms < $1 - coalesce(o.results_days, p.results_days) * ${DAY_MS}::bigint
          LIMIT ${DELETED_AT_ONCE})`,
      nowMs,
    ],
    [
      `DELETE FROM audit WHERE seq IN
         (SELECT seq FROM audit WHERE at < $1 ORDER BY at LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
      timestamp(nowMs - AUDIT_KEPT_MS),
    ],
    [
      `DELETE FROM audit WHERE seq IN
         (SELECT a.seq FROM (SELECT org_id, count(*) - ${AUDIT_ENTRIES_MAX} AS surplus FROM audit
            GROUP BY org_id HAVING count(*) > ${AUDIT_ENTRIES_MAX}) crowded
          CROSS JOIN LATERAL (SELECT seq FROM audit WHERE org_id = crowded.org_id
            ORDER BY seq LIMIT least(crowded.surplus, ${DELETED_AT_ONCE})) a)`,
    ],
  ]
}

/** Maintenance of the database. */
export function postgresUpkeep(
  { pools, queues }: StoreParts,
  scripts: Scripts,
  releaseLeases: () => Promise<void>,
): UpkeepStore {
  const { write, writeRepeatedly, read, admission } = pools
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
    tidy: async (nowMs) => {
      for (const [text, ...values] of deletions(nowMs)) {
        let deleted = DELETED_AT_ONCE
        while (deleted > 0) {
          deleted = (await write.rows(`${text} RETURNING 1 AS deleted`, values)).length
        }
      }
      await removeExpired(scripts, nowMs)
      await removeEndedEndpoints(write, nowMs)
    },
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
