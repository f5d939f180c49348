import { randomUUID } from 'node:crypto'
import type { SecretRole } from '../../../domain/notifications/channel.ts'
import { ORDERED_ATTEMPTS, ORDERED_MS, SOUGHT_MAX } from '../../../domain/notifications/retries.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import type { DueDelivery, NotificationStore } from '../../notificationStore.ts'
import { SEALED_SECRET_COLUMNS } from '../../notifications/channelSecrets.ts'
import { recordAttempt } from '../../notifications/recordAttempt.ts'
import { run, type Scripts } from '../../scripts/script.ts'
import type { Pools } from '../connections/pools.ts'
import type { Sql } from '../connections/sql.ts'

/**
 * Duration of the lease of a channel (seconds): longer than the longest attempt and its recording. Other processes wait
 * this long only when the holder ended without releasing the lease.
 */
const LEASE_S = 60

type DueRow = Omit<DueDelivery, 'target' | 'secrets'> & { readonly dueMs: number }
type SecretRow = SealedValue & { readonly channelId: string; readonly role: SecretRole }

/** Channels with waiting deliveries. Steps from channel to channel in the index, regardless of the number of deliveries. */
const WAITING = `WITH RECURSIVE waiting (id) AS (
    (SELECT channel_id FROM deliveries WHERE state = 'waiting' ORDER BY channel_id LIMIT 1)
    UNION ALL SELECT (SELECT channel_id FROM deliveries WHERE state = 'waiting' AND channel_id > w.id
      ORDER BY channel_id LIMIT 1) FROM waiting w WHERE w.id IS NOT NULL)`

/**
 * The next delivery of each channel `w.id`, among the first due ones in `order`. An event of an incident waits for
 * earlier events of it, unless these failed often or are old. Events are numbered in the order of their times, so the
 * number of the last old one spares a look at each.
 */
const nextFrom = (
  order: string,
) => `SELECT d.event_seq AS "eventSeq", d.channel_id AS "channelId", c.org_id AS "orgId",
    d.webhook_id AS "webhookId", c.kind, e.type, e.body, e.at_ms AS "atMs", d.attempts,
    d.attempts - d.attempts_before + 1 AS attempt, d.due_ms AS "dueMs"
  FROM (SELECT * FROM deliveries WHERE channel_id = w.id AND state = 'waiting' AND due_ms <= $1
      ORDER BY ${order} LIMIT ${SOUGHT_MAX}) d
    JOIN events e ON e.seq = d.event_seq JOIN channels c ON c.id = d.channel_id
  WHERE NOT EXISTS (
    SELECT 1 FROM deliveries earlier JOIN events ee ON ee.seq = earlier.event_seq
    WHERE earlier.channel_id = d.channel_id AND earlier.state = 'waiting'
      AND earlier.incident_id = d.incident_id AND earlier.event_seq < d.event_seq
      AND earlier.event_seq > coalesce(
        (SELECT seq FROM events WHERE at_ms <= $1 - ${ORDERED_MS} ORDER BY at_ms DESC LIMIT 1), 0)
      AND earlier.attempts - earlier.attempts_before < ${ORDERED_ATTEMPTS} AND ee.at_ms > $1 - ${ORDERED_MS})
  ORDER BY d.due_ms, d.event_seq LIMIT 1`

const NEXT = `(${nextFrom('due_ms, event_seq')}) UNION ALL (${nextFrom('due_ms DESC, event_seq DESC')}) LIMIT 1`

/** Storage for the sender. A process that stops calls `releaseLeases`, so that others send at once. */
export interface Sending extends Pick<NotificationStore, 'dueDeliveries' | 'recordAttempt'> {
  readonly releaseLeases: () => Promise<void>
}

/**
 * One process at a time sends the deliveries of a channel: it holds a lease, by the clock of the database, and releases
 * it when it records the attempt.
 */
export function postgresSending({ write, read }: Pick<Pools, 'write' | 'read'>, scripts: Scripts): Sending {
  const holder = randomUUID()
  return {
    dueDeliveries: async (nowMs, choose) => {
      const due = await read.rows<DueRow>(
        `${WAITING} SELECT next.* FROM waiting w CROSS JOIN LATERAL (${NEXT}) next
         WHERE NOT EXISTS (SELECT 1 FROM channel_turns t
           WHERE t.channel_id = w.id AND t.holder <> $2 AND t.until > clock_timestamp())
         ORDER BY next."dueMs"`,
        [nowMs, holder],
      )
      const chosen = choose(due)
      if (chosen.length === 0) return []
      const taken = await take(write, holder, chosen)
      if (taken.length === 0) return []
      // Another process may have sent one of them before the lease was acquired.
      const next = await read.rows<DueRow>(
        `SELECT next.* FROM unnest($2::uuid[]) AS w(id) CROSS JOIN LATERAL (${NEXT}) next`,
        [nowMs, taken],
      )
      const deliveries = await withSecrets(read, nowMs, next)
      const idle = taken.filter((id) => !deliveries.some(({ channelId }) => channelId === id))
      if (idle.length > 0) await release(write, holder, idle)
      return deliveries
    },
    recordAttempt: recordAttempt(scripts, function* ({ channelId, orgId }, mayDisable) {
      // Channels are locked after their organisation.
      if (mayDisable) yield* run('UPDATE orgs SET revision = revision + 1 WHERE id = $1', [orgId])
      yield* run('SELECT id FROM channels WHERE id = $1 FOR NO KEY UPDATE', [channelId])
      yield* run('DELETE FROM channel_turns WHERE holder = $1 AND channel_id = $2', [holder, channelId])
    }),
    releaseLeases: async () => {
      await write.rows('DELETE FROM channel_turns WHERE holder = $1', [holder])
    },
  }
}

/** Acquires leases of channels; the ids of those that no other process holds. */
async function take(sql: Sql, holder: string, chosen: readonly { readonly channelId: string }[]) {
  const rows = await sql.rows<{ id: string }>(
    `INSERT INTO channel_turns AS t (channel_id, holder, until)
     SELECT c.id, $1, clock_timestamp() + interval '${LEASE_S} seconds' FROM channels c WHERE c.id = ANY($2::uuid[])
     ORDER BY c.id
     ON CONFLICT (channel_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE t.holder = excluded.holder OR t.until <= clock_timestamp()
     RETURNING t.channel_id AS id`,
    [holder, chosen.map(({ channelId }) => channelId)],
  )
  return rows.map(({ id }) => id)
}

async function release(sql: Sql, holder: string, channelIds: readonly string[]): Promise<void> {
  await sql.rows('DELETE FROM channel_turns WHERE holder = $1 AND channel_id = ANY($2::uuid[])', [
    ...[holder, channelIds],
  ])
}

async function withSecrets(sql: Sql, nowMs: number, due: readonly DueRow[]): Promise<readonly DueDelivery[]> {
  if (due.length === 0) return []
  const secrets = await sql.rows<SecretRow>(
    `SELECT channel_id AS "channelId", role, ${SEALED_SECRET_COLUMNS} FROM sealed_secrets s
     WHERE channel_id = ANY($1::uuid[]) AND (role <> 'old_secret' OR EXISTS
       (SELECT 1 FROM channels WHERE id = s.channel_id AND old_secret_until_ms > $2))`,
    [due.map(({ channelId }) => channelId), nowMs],
  )
  return due.flatMap(({ dueMs: _, ...row }) => {
    const ofRole = (wanted: SecretRole) =>
      secrets.filter(({ channelId, role }) => channelId === row.channelId && role === wanted)
    const [target] = ofRole('target')
    // Another process has deleted the channel since it was chosen.
    if (target === undefined) return []
    return { ...row, target, secrets: [...ofRole('secret'), ...ofRole('old_secret')] }
  })
}
