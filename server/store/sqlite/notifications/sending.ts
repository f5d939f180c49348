import type { Database } from 'better-sqlite3'
import type { SecretRole } from '../../../domain/notifications/channel.ts'
import { ORDERED_ATTEMPTS, ORDERED_MS, SOUGHT_MAX } from '../../../domain/notifications/retries.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import type { DueDelivery, NotificationStore } from '../../notificationStore.ts'

type DueRow = Omit<DueDelivery, 'target' | 'secrets'> & { readonly dueMs: number }
type SecretRow = SealedValue & { readonly role: SecretRole }

/** The search for due deliveries. */
export function sqliteSending(reader: Database): Pick<NotificationStore, 'dueDeliveries'> {
  // Steps from channel to channel in the index, regardless of the number of deliveries.
  const waitingChannels = reader
    .prepare<[], string>(
      `WITH RECURSIVE waiting (id) AS (
         SELECT min(channel_id) FROM deliveries WHERE state = 'waiting'
         UNION ALL SELECT (SELECT min(channel_id) FROM deliveries WHERE state = 'waiting' AND channel_id > waiting.id)
         FROM waiting WHERE waiting.id IS NOT NULL)
       SELECT id FROM waiting WHERE id IS NOT NULL`,
    )
    .pluck()
  // An event of an incident waits for earlier events of it, unless these failed often or are old. Events are numbered in
  // the order of their times, so the number of the last old one spares a look at each.
  const nextFrom = (order: string) =>
    reader.prepare<[{ channelId: string; nowMs: number }], DueRow>(
      `SELECT d.event_seq AS eventSeq, d.channel_id AS channelId, c.org_id AS orgId, d.webhook_id AS webhookId, c.kind, e.type, e.body,
       e.at_ms AS atMs, d.attempts, d.attempts - d.attempts_before + 1 AS attempt,
       d.due_ms AS dueMs
     FROM (SELECT * FROM deliveries WHERE channel_id = @channelId AND state = 'waiting' AND due_ms <= @nowMs
         ORDER BY ${order} LIMIT ${SOUGHT_MAX}) d
       JOIN events e ON e.seq = d.event_seq JOIN channels c ON c.id = d.channel_id
     WHERE NOT EXISTS (
       SELECT 1 FROM deliveries earlier JOIN events ee ON ee.seq = earlier.event_seq
       WHERE earlier.channel_id = d.channel_id AND earlier.state = 'waiting'
         AND earlier.incident_id = d.incident_id AND earlier.event_seq < d.event_seq
         AND earlier.event_seq > coalesce(
           (SELECT seq FROM events WHERE at_ms <= @nowMs - ${ORDERED_MS} ORDER BY at_ms DESC LIMIT 1), 0)
         AND earlier.attempts - earlier.attempts_before < ${ORDERED_ATTEMPTS} AND ee.at_ms > @nowMs - ${ORDERED_MS})
     ORDER BY d.due_ms, d.event_seq LIMIT 1`,
    )
  const fromFirst = nextFrom('due_ms, event_seq')
  const fromLast = nextFrom('due_ms DESC, event_seq DESC')
  const nextOf = (about: { channelId: string; nowMs: number }) => fromFirst.get(about) ?? fromLast.get(about)
  const secrets = reader.prepare<[string, number], SecretRow>(
    `SELECT s.role, s.key_id AS keyId, s.org_id AS orgId, '' AS serviceId, '' AS endpointId, s.slot,
       s.master_key_id AS masterKeyId, s.wrap_nonce AS wrapNonce, s.wrapped_key AS wrappedKey, s.nonce, s.ciphertext
     FROM sealed_secrets s JOIN channels c ON c.id = s.channel_id
     WHERE s.channel_id = ? AND (s.role <> 'old_secret' OR c.old_secret_until_ms > ?)`,
  )
  return {
    dueDeliveries: async (nowMs, choose) => {
      const due = waitingChannels.all().flatMap((channelId) => nextOf({ channelId, nowMs }) ?? [])
      const chosen = choose(due.toSorted((one, other) => one.dueMs - other.dueMs))
      return chosen.flatMap(({ dueMs: _, ...row }) => {
        const sealed = secrets.all(row.channelId, nowMs)
        const ofRole = (wanted: SecretRole) => sealed.filter(({ role }) => role === wanted)
        const [target] = ofRole('target')
        // Another process has deleted the channel since it was chosen.
        if (target === undefined) return []
        return { ...row, target, secrets: [...ofRole('secret'), ...ofRole('old_secret')] }
      })
    },
  }
}
