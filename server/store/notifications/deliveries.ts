import { ApiError } from '../../../api/contract/apiError.ts'
import { SET_BACK_MS_MIN } from '../../domain/notifications/retries.ts'
import type { NotificationStats, NotificationStore, StoredDelivery } from '../notificationStore.ts'
import { row, rows, run, type Scripts } from '../scripts/script.ts'
import { recordChannelAction } from './channelAction.ts'
import { type ChangeChannel, findChannel } from './channelRows.ts'
import { assertActive } from './channels.ts'

const RESEND = `UPDATE deliveries SET state = 'waiting', ended_ms = NULL, failed_reason = NULL,
  attempts_before = attempts, due_ms = $2 WHERE channel_id = $1`
const HASTEN = `UPDATE deliveries SET due_ms = $2
  WHERE channel_id = $1 AND webhook_id = $3 AND state = 'waiting'`

/** Deliveries that a clock postponed that was set back later. */
const SET_BACK = `UPDATE deliveries SET due_ms = $1 WHERE state = 'waiting' AND due_ms > $1
  AND coalesce(
    (SELECT a.at_ms FROM attempts a WHERE a.event_seq = deliveries.event_seq AND a.channel_id = deliveries.channel_id
       AND a.number = deliveries.attempts),
    (SELECT e.at_ms FROM events e WHERE e.seq = deliveries.event_seq)) > $1 + ${SET_BACK_MS_MIN}`

/** A delivery with its last attempt. */
type DeliveryRow = Omit<StoredDelivery, 'last'> & {
  readonly lastAtMs: number | null
  readonly status: number | null
  readonly error: string | null
  readonly ms: number | null
}

/** Listing and resending deliveries. */
export function deliveries({ read, write }: Scripts, change: ChangeChannel) {
  return {
    getDelivery: (ref, webhookId) =>
      read(function* () {
        const { id } = yield* findChannel(ref)
        const found = yield* row<{ body: string; eventSeq: number }>(
          `SELECT e.body, e.seq AS "eventSeq" FROM deliveries d JOIN events e ON e.seq = d.event_seq
           WHERE d.channel_id = $1 AND d.webhook_id = $2`,
          [id, webhookId],
        )
        if (found === undefined) throw deliveryNotFound(webhookId)
        const attempts = yield* rows<NonNullable<StoredDelivery['last']>>(
          `SELECT at_ms AS "atMs", status, error, ms AS "durationMs" FROM attempts
           WHERE event_seq = $1 AND channel_id = $2 ORDER BY number DESC`,
          [found.eventSeq, id],
        )
        return { webhookId, body: found.body, attempts }
      }),
    hastenDeliveries: (nowMs) => write(() => run(SET_BACK, [nowMs])),
    listDeliveries: (ref, { state = null, countMax }) =>
      read(function* () {
        const { id } = yield* findChannel(ref)
        const found = yield* rows<DeliveryRow>(
          `SELECT d.webhook_id AS "webhookId", e.type, d.incident_id AS "incidentId", 'INC-' || i.number AS incident,
             d.state, d.attempts, e.at_ms AS "atMs", CASE d.state WHEN 'waiting' THEN d.due_ms END AS "dueMs",
             d.failed_reason AS "failedReason", a.at_ms AS "lastAtMs", a.status, a.error, a.ms
           FROM deliveries d JOIN events e ON e.seq = d.event_seq LEFT JOIN incidents i ON i.id = d.incident_id
             LEFT JOIN attempts a ON a.event_seq = d.event_seq AND a.channel_id = d.channel_id AND a.number = d.attempts
           WHERE d.channel_id = $1 AND ($2::text IS NULL OR d.state = $2)
           ORDER BY d.event_seq DESC LIMIT $3`,
          [id, state, countMax],
        )
        return found.map(deliveryOf)
      }),
    resendDeliveries: (ref, which, nowMs) =>
      change(ref, function* (channel) {
        assertActive(channel)
        const changed = function* (text: string, value: string | number) {
          return (yield* rows(`${text} RETURNING event_seq`, [channel.id, nowMs, value])).length
        }
        const changes =
          'webhookId' in which
            ? (yield* changed(`${RESEND} AND webhook_id = $3 AND state <> 'waiting'`, which.webhookId)) ||
              (yield* changed(HASTEN, which.webhookId))
            : yield* changed(
                `${RESEND} AND state = 'failed' AND (SELECT at_ms FROM events WHERE seq = event_seq) >= $3`,
                which.sinceMs,
              )
        if (changes === 0 && 'webhookId' in which) throw deliveryNotFound(which.webhookId)
        const detail = { deliveries: changes }
        yield* recordChannelAction('resend', { channel, nowMs, by: ref.by, detail })
        return changes
      }),
    notificationStats: () =>
      read(function* () {
        const text = `SELECT (SELECT count(*) FROM deliveries WHERE state = 'waiting') AS waiting,
          (SELECT count(*) FROM channels WHERE state = 'disabled') AS "disabledChannels"`
        return (yield* row<NotificationStats>(text, [])) ?? { waiting: 0, disabledChannels: 0 }
      }),
  } satisfies Partial<NotificationStore>
}

function deliveryNotFound(webhookId: string): ApiError {
  return new ApiError(
    'not_found',
    `there is no delivery ${webhookId}: "pharos-server channel deliveries" shows them`,
  )
}

function deliveryOf({ lastAtMs: atMs, status, error, ms, ...delivery }: DeliveryRow): StoredDelivery {
  return { ...delivery, last: atMs === null ? null : { atMs, status, error, durationMs: ms ?? 0 } }
}
