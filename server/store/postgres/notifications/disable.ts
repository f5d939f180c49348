import type { Actor } from '../../../domain/accounts/actor.ts'
import type { StoredChannel } from '../../notificationStore.ts'
import { channelAction, failedReasonOf } from '../../shared/channelRules.ts'
import type { Sql } from '../connections/sql.ts'
import { recordAction } from '../writes/auditWrites.ts'

/**
 * Disables a channel, in a transaction that has locked it and its organisation. Waiting deliveries fail, and can be
 * resent later. Writes an audit entry.
 */
export async function disableChannel(
  sql: Sql,
  channel: Pick<StoredChannel, 'id' | 'orgId'>,
  { reason, by, nowMs }: { readonly reason: string; readonly by: Actor; readonly nowMs: number },
): Promise<void> {
  await sql.rows(
    `UPDATE channels SET state = 'disabled', disabled_reason = $2, disabled_at_ms = $3 WHERE id = $1`,
    [channel.id, reason, nowMs],
  )
  await sql.rows(
    `UPDATE deliveries SET state = 'failed', ended_ms = $2, failed_reason = $3
     WHERE channel_id = $1 AND state = 'waiting'`,
    [channel.id, nowMs, failedReasonOf(reason)],
  )
  await recordAction(sql, channelAction('disable', { channel, by, nowMs, detail: { reason } }))
}
