import type { SecretRole } from '../../domain/notifications/channel.ts'
import { ORDERED_ATTEMPTS, ORDERED_MS, SOUGHT_MAX } from '../../domain/notifications/retries.ts'
import type { SealedValue } from '../../domain/seal.ts'
import type { DueDelivery, NotificationStore } from '../notificationStore.ts'
import { rows, type Script, type ScriptValue, type Scripts } from '../scripts/script.ts'
import { SEALED_SECRET_COLUMNS } from './channelSecrets.ts'

type DueRow = Omit<DueDelivery, 'target' | 'secrets'>
type SecretRow = SealedValue & { readonly channelId: string; readonly role: SecretRole }

/** Channels with waiting deliveries. Steps from channel to channel in the index, regardless of the number of deliveries. */
const WAITING = `WITH RECURSIVE waiting (id) AS (
    SELECT * FROM (SELECT channel_id FROM deliveries WHERE state = 'waiting' ORDER BY channel_id LIMIT 1) one
    UNION ALL SELECT (SELECT channel_id FROM deliveries WHERE state = 'waiting' AND channel_id > w.id
      ORDER BY channel_id LIMIT 1) FROM waiting w WHERE w.id IS NOT NULL)
  SELECT id FROM waiting WHERE id IS NOT NULL`

/**
 * The next delivery of the channel `w.id`, among the first due ones in `order`. An event of an incident waits for
 * earlier events of it, unless these failed often or are old. Events are numbered in the order of their times, so the
 * number of the last old one spares a look at each.
 */
const nextFrom = (order: string) => `(SELECT d.event_seq
  FROM (SELECT * FROM deliveries WHERE channel_id = w.id AND state = 'waiting' AND due_ms <= $1
      ORDER BY ${order} LIMIT ${SOUGHT_MAX}) d
  WHERE NOT EXISTS (
    SELECT 1 FROM deliveries earlier JOIN events e ON e.seq = earlier.event_seq
    WHERE earlier.channel_id = d.channel_id AND earlier.state = 'waiting'
      AND earlier.incident_id = d.incident_id AND earlier.event_seq < d.event_seq
      AND earlier.event_seq > coalesce(
        (SELECT seq FROM events WHERE at_ms <= $1 - ${ORDERED_MS} ORDER BY at_ms DESC LIMIT 1), 0)
      AND earlier.attempts - earlier.attempts_before < ${ORDERED_ATTEMPTS} AND e.at_ms > $1 - ${ORDERED_MS})
  ORDER BY d.due_ms, d.event_seq LIMIT 1)`

const NEXT = `coalesce(${nextFrom('due_ms, event_seq')}, ${nextFrom('due_ms DESC, event_seq DESC')})`

/** The right to send to a channel, which one process holds at a time. */
export interface ChannelLeases {
  /** Whether no other process holds the lease of the channel `w`, by the parameter `$2`. */
  readonly isFree: string
  /** The parameter of `isFree`. */
  readonly holder: string
  /** Acquires leases of channels; the ids of those that no other process holds. */
  readonly take: (channelIds: readonly string[]) => Promise<readonly string[]>
  readonly release: (channelIds: readonly string[]) => Promise<void>
}

/** Search for due deliveries. A delivery is given with the lease of its channel. */
export function dueDeliveries({ read }: Scripts, leases: ChannelLeases): NotificationStore['dueDeliveries'] {
  return async (nowMs, choose) => {
    const free = `SELECT id FROM (${WAITING}) w WHERE ${leases.isFree}`
    const chosen = choose(await read(() => nextOf(free, [nowMs, leases.holder])))
    if (chosen.length === 0) return []
    const taken = await leases.take(chosen.map(({ channelId }) => channelId))
    if (taken.length === 0) return []
    // Another process may have sent one of them before the lease was acquired.
    const deliveries = await read(() => deliveriesOf(taken, nowMs))
    const idle = taken.filter((id) => !deliveries.some(({ channelId }) => channelId === id))
    if (idle.length > 0) await leases.release(idle)
    return deliveries
  }
}

/** The next due delivery of each channel `id` of the query `channels`, the longest due first; `$1` is the present. */
function nextOf(channels: string, values: readonly ScriptValue[]): Script<readonly DueRow[]> {
  return rows(
    `WITH next AS MATERIALIZED (SELECT w.id, ${NEXT} AS seq FROM (${channels}) w)
     SELECT d.event_seq AS "eventSeq", d.channel_id AS "channelId", c.org_id AS "orgId", d.webhook_id AS "webhookId",
       c.kind, e.type, e.body, e.at_ms AS "atMs", d.attempts, d.attempts - d.attempts_before + 1 AS attempt
     FROM next n JOIN deliveries d ON d.event_seq = n.seq AND d.channel_id = n.id
       JOIN events e ON e.seq = d.event_seq JOIN channels c ON c.id = n.id
     ORDER BY d.due_ms`,
    values,
  )
}

function* deliveriesOf(channelIds: readonly string[], nowMs: number): Script<readonly DueDelivery[]> {
  const chosen = 'SELECT value::uuid AS id FROM json_array_elements_text($2::json)'
  const values = [nowMs, JSON.stringify(channelIds)]
  const due = yield* nextOf(chosen, values)
  const secrets = yield* rows<SecretRow>(
    `SELECT channel_id AS "channelId", role, ${SEALED_SECRET_COLUMNS} FROM sealed_secrets s
     WHERE channel_id IN (${chosen}) AND (role <> 'old_secret' OR EXISTS
       (SELECT 1 FROM channels WHERE id = s.channel_id AND old_secret_until_ms > $1))`,
    values,
  )
  return due.flatMap((delivery) => {
    const ofRole = (wanted: SecretRole) =>
      secrets.filter(({ channelId, role }) => channelId === delivery.channelId && role === wanted)
    const [target] = ofRole('target')
    // The channel was deleted since it was chosen.
    if (target === undefined) return []
    return { ...delivery, target, secrets: [...ofRole('secret'), ...ofRole('old_secret')] }
  })
}
