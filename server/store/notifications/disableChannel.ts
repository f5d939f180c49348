import type { Actor } from '../../domain/accounts/actor.ts'
import type { StoredChannel } from '../notificationStore.ts'
import { run, type Script } from '../scripts/script.ts'
import { recordChannelAction } from './channelAction.ts'

/**
 * Disables a channel, in a transaction that has locked it and its organisation. Waiting deliveries fail, and can be
 * resent later. Writes an audit entry.
 */
export function* disableChannel(
  channel: Pick<StoredChannel, 'id' | 'orgId'>,
  { reason, by, nowMs }: { readonly reason: string; readonly by: Actor; readonly nowMs: number },
): Script<void> {
  yield* run(
    `UPDATE channels SET state = 'disabled', disabled_reason = $2, disabled_at_ms = $3 WHERE id = $1`,
    [channel.id, reason, nowMs],
  )
  yield* run(
    `UPDATE deliveries SET state = 'failed', ended_ms = $2, failed_reason = $3
     WHERE channel_id = $1 AND state = 'waiting'`,
    [channel.id, nowMs, `channel disabled: ${reason}`],
  )
  yield* recordChannelAction('disable', { channel, by, nowMs, detail: { reason } })
}
