import type { Database } from 'better-sqlite3'
import type { NotificationStore, StoredDelivery } from '../../notificationStore.ts'
import {
  assertActive,
  channelAction,
  type DeliveryRow,
  deliveryNotFound,
  deliveryOfRow,
  FAILED_KEPT_MS,
  SENT_KEPT_MS,
} from '../../shared/channelRules.ts'
import type { RecordAction } from '../changes/audit.ts'
import type { GroupCommit } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'
import { prepareFindChannel } from './channelRows.ts'

/** Listing and resending deliveries. */
export function sqliteDeliveries(
  { reader, writer }: Connections,
  { commits, note }: { readonly commits: GroupCommit; readonly note: RecordAction },
): Pick<NotificationStore, 'listDeliveries' | 'getDelivery' | 'resendDeliveries' | 'notificationStats'> {
  const find = prepareFindChannel(reader)
  const findNow = prepareFindChannel(writer)
  const list = reader.prepare<[{ id: string; state: string | null; countMax: number }], DeliveryRow>(
    `SELECT d.webhook_id AS webhookId, e.type, d.incident_id AS incidentId, d.state, d.attempts, e.at_ms AS atMs,
       iif(d.state = 'waiting', d.due_ms, NULL) AS dueMs, d.failed_reason AS failedReason, a.at_ms AS lastAtMs,
       a.status, a.error, a.ms
     FROM deliveries d INDEXED BY deliveries_of_channel JOIN events e ON e.seq = d.event_seq
       LEFT JOIN attempts a ON a.event_seq = d.event_seq AND a.channel_id = d.channel_id AND a.number = d.attempts
     WHERE d.channel_id = @id AND (@state IS NULL OR d.state = @state)
     ORDER BY d.event_seq DESC LIMIT @countMax`,
  )
  const again = `UPDATE deliveries SET state = 'waiting', ended_ms = NULL, failed_reason = NULL, attempts_before = attempts, due_ms = @nowMs
    WHERE channel_id = @id`
  const one = writer.prepare(`${again} AND webhook_id = @webhookId AND state <> 'waiting'`)
  const hasten = writer.prepare(
    `UPDATE deliveries SET due_ms = @nowMs WHERE channel_id = @id AND webhook_id = @webhookId AND state = 'waiting'`,
  )
  const since = writer.prepare(
    `${again} AND state = 'failed' AND (SELECT at_ms FROM events WHERE seq = event_seq) >= @sinceMs`,
  )
  const stats = reader.prepare<[], { waiting: number; disabledChannels: number }>(
    `SELECT (SELECT count(*) FROM deliveries WHERE state = 'waiting') AS waiting,
       (SELECT count(*) FROM channels WHERE state = 'disabled') AS disabledChannels`,
  )
  const whole = reader.prepare<[string, string], { webhookId: string; body: string; eventSeq: number }>(
    `SELECT d.webhook_id AS webhookId, e.body, e.seq AS eventSeq FROM deliveries d JOIN events e ON e.seq = d.event_seq
     WHERE d.channel_id = ? AND d.webhook_id = ?`,
  )
  const attempts = reader.prepare<[number, string], NonNullable<StoredDelivery['last']>>(
    `SELECT at_ms AS atMs, status, error, ms AS durationMs FROM attempts
     WHERE event_seq = ? AND channel_id = ? ORDER BY number DESC`,
  )
  return {
    getDelivery: async (ref, webhookId) => {
      const { id } = find(ref)
      const row = whole.get(id, webhookId)
      if (row === undefined) throw deliveryNotFound(webhookId)
      return { webhookId, body: row.body, attempts: attempts.all(row.eventSeq, id) }
    },
    listDeliveries: async (ref, { state = null, countMax }) =>
      list.all({ id: find(ref).id, state, countMax }).map(deliveryOfRow),
    resendDeliveries: (ref, which, nowMs) =>
      commits.run(() => {
        const channel = findNow(ref)
        assertActive(channel)
        const about = { id: channel.id, nowMs, ...which }
        const changes =
          'webhookId' in which
            ? one.run(about).changes || hasten.run(about).changes
            : since.run(about).changes
        if (changes === 0 && 'webhookId' in which) throw deliveryNotFound(which.webhookId)
        note(channelAction('resend', { channel, nowMs, by: ref.by, detail: { deliveries: changes } }))
        return changes
      }),
    notificationStats: async () => stats.get() ?? { waiting: 0, disabledChannels: 0 },
  }
}

/**
 * Prepares the removal of ended deliveries and their events, at most `countMax` of each kind at a time; returns their
 * number.
 */
export function prepareDeliveryCleanup(writer: Database, countMax: number): (nowMs: number) => number {
  const ended = writer.prepare(
    `DELETE FROM deliveries WHERE (event_seq, channel_id) IN
       (SELECT event_seq, channel_id FROM deliveries WHERE state = ? AND ended_ms < ? LIMIT ?)`,
  )
  const events = writer.prepare(
    `DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at_ms < ? AND NOT EXISTS
       (SELECT 1 FROM deliveries WHERE event_seq = seq) LIMIT ?)`,
  )
  return (nowMs) =>
    ended.run('sent', nowMs - SENT_KEPT_MS, countMax).changes +
    ended.run('failed', nowMs - FAILED_KEPT_MS, countMax).changes +
    events.run(nowMs - SENT_KEPT_MS, countMax).changes
}
