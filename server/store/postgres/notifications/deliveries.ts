import type { NotificationStats, NotificationStore, StoredDelivery } from '../../notificationStore.ts'
import {
  assertActive,
  channelAction,
  type DeliveryRow,
  deliveryNotFound,
  deliveryOfRow,
} from '../../shared/channelRules.ts'
import { rowOf } from '../connections/sql.ts'
import { recordAction } from '../writes/auditWrites.ts'
import type { StoreParts } from '../writes/storeParts.ts'
import { channelChanger, findChannel } from './channelRows.ts'

const RESEND = `UPDATE deliveries SET state = 'waiting', ended_ms = NULL, failed_reason = NULL,
  attempts_before = attempts, due_ms = $2 WHERE channel_id = $1`

type Methods = 'listDeliveries' | 'getDelivery' | 'resendDeliveries' | 'notificationStats'

/** Listing and resending deliveries. */
export function postgresDeliveries(parts: StoreParts): Pick<NotificationStore, Methods> {
  const { read } = parts.pools
  const change = channelChanger(parts)
  return {
    getDelivery: async (ref, webhookId) => {
      const { id } = await findChannel(read, ref)
      const row = await rowOf<{ body: string; eventSeq: number }>(
        read,
        `SELECT e.body, e.seq AS "eventSeq" FROM deliveries d JOIN events e ON e.seq = d.event_seq
         WHERE d.channel_id = $1 AND d.webhook_id = $2`,
        [id, webhookId],
      )
      if (row === undefined) throw deliveryNotFound(webhookId)
      const attempts = await read.rows<NonNullable<StoredDelivery['last']>>(
        `SELECT at_ms AS "atMs", status, error, ms AS "durationMs" FROM attempts
         WHERE event_seq = $1 AND channel_id = $2 ORDER BY number DESC`,
        [row.eventSeq, id],
      )
      return { webhookId, body: row.body, attempts }
    },
    listDeliveries: async (ref, { state = null, countMax }) => {
      const { id } = await findChannel(read, ref)
      const rows = await read.rows<DeliveryRow>(
        `SELECT d.webhook_id AS "webhookId", e.type, d.incident_id AS "incidentId", d.state, d.attempts,
           e.at_ms AS "atMs", CASE d.state WHEN 'waiting' THEN d.due_ms END AS "dueMs",
           d.failed_reason AS "failedReason", a.at_ms AS "lastAtMs", a.status, a.error, a.ms
         FROM deliveries d JOIN events e ON e.seq = d.event_seq
           LEFT JOIN attempts a ON a.event_seq = d.event_seq AND a.channel_id = d.channel_id AND a.number = d.attempts
         WHERE d.channel_id = $1 AND ($2::text IS NULL OR d.state = $2)
         ORDER BY d.event_seq DESC LIMIT $3`,
        [id, state, countMax],
      )
      return rows.map(deliveryOfRow)
    },
    resendDeliveries: (ref, which, nowMs) =>
      change(ref, async (sql, channel) => {
        const { id } = channel
        assertActive(channel)
        const changed = async (text: string, value: string | number): Promise<number> =>
          (await sql.rows(`${text} RETURNING event_seq`, [id, nowMs, value])).length
        const changes =
          'webhookId' in which
            ? (await changed(`${RESEND} AND webhook_id = $3 AND state <> 'waiting'`, which.webhookId)) ||
              (await changed(HASTEN, which.webhookId))
            : await changed(
                `${RESEND} AND state = 'failed' AND (SELECT at_ms FROM events WHERE seq = event_seq) >= $3`,
                which.sinceMs,
              )
        if (changes === 0 && 'webhookId' in which) throw deliveryNotFound(which.webhookId)
        await recordAction(
          sql,
          channelAction('resend', { channel, nowMs, by: ref.by, detail: { deliveries: changes } }),
        )
        return changes
      }),
    notificationStats: async () => {
      const text = `SELECT (SELECT count(*) FROM deliveries WHERE state = 'waiting') AS waiting,
        (SELECT count(*) FROM channels WHERE state = 'disabled') AS "disabledChannels"`
      return (await rowOf<NotificationStats>(read, text, [])) ?? { waiting: 0, disabledChannels: 0 }
    },
  }
}

const HASTEN = `UPDATE deliveries SET due_ms = $2
  WHERE channel_id = $1 AND webhook_id = $3 AND state = 'waiting'`
