import type { Database } from 'better-sqlite3'
import type { Actor } from '../../../domain/accounts/actor.ts'
import { channelAction, failedReasonOf } from '../../shared/channelRules.ts'
import type { RecordAction } from '../changes/audit.ts'

/** Disables a channel, in the caller's transaction: waiting deliveries fail, and can be resent later. */
export type DisableChannel = (
  channel: { readonly id: string; readonly orgId: string },
  how: { readonly reason: string; readonly by: Actor; readonly nowMs: number },
) => void

/** Prepares disabling channels, which writes an audit entry. */
export function prepareDisable(writer: Database, note: RecordAction): DisableChannel {
  const disable = writer.prepare(
    `UPDATE channels SET state = 'disabled', disabled_reason = ?, disabled_at_ms = ? WHERE id = ?`,
  )
  const fail = writer.prepare(
    `UPDATE deliveries SET state = 'failed', ended_ms = ?, failed_reason = ?
     WHERE channel_id = ? AND state = 'waiting'`,
  )
  return ({ id, orgId }, { reason, by, nowMs }) => {
    disable.run(reason, nowMs, id)
    fail.run(nowMs, failedReasonOf(reason), id)
    note(channelAction('disable', { channel: { id, orgId }, by, nowMs, detail: { reason } }))
  }
}
