import { isGivenUp } from '../../domain/notifications/retries.ts'
import type { DueDelivery, NotificationStore } from '../notificationStore.ts'
import { row, run, type Script, type Scripts } from '../scripts/script.ts'
import { disableChannel } from './disableChannel.ts'

/**
 * Records attempts. The previous number of attempts is a fence: an attempt is not recorded twice, by this process after
 * a lost connection or by another process. `begin` starts each transaction; it locks what a change of the channel needs
 * when `mayDisable`.
 */
export function recordAttempt(
  { inTransaction }: Scripts,
  begin: (delivery: DueDelivery, mayDisable: boolean) => Script<void>,
): NotificationStore['recordAttempt'] {
  return (delivery, { status, error, durationMs }, after, nowMs) =>
    inTransaction(function* () {
      const { eventSeq, channelId, orgId, attempts } = delivery
      yield* begin(delivery, after.kind === 'failed' || after.kind === 'gone')
      const counted = yield* row(
        `UPDATE deliveries SET attempts = attempts + 1 WHERE event_seq = $1 AND channel_id = $2 AND attempts = $3
         RETURNING attempts`,
        [eventSeq, channelId, attempts],
      )
      // Already recorded, or the channel was deleted meanwhile.
      if (counted === undefined) return undefined
      yield* run(
        `INSERT INTO attempts (event_seq, channel_id, number, at_ms, status, error, ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [eventSeq, channelId, attempts + 1, nowMs - durationMs, status, error, durationMs],
      )
      if (after.kind === 'again') {
        const postpone = `UPDATE deliveries SET due_ms = $3
          WHERE event_seq = $1 AND channel_id = $2 AND state = 'waiting'`
        yield* run(postpone, [eventSeq, channelId, after.dueMs])
        return undefined
      }
      const end = 'UPDATE deliveries SET state = $3, ended_ms = $4 WHERE event_seq = $1 AND channel_id = $2'
      yield* run(end, [eventSeq, channelId, after.kind === 'sent' ? 'sent' : 'failed', nowMs])
      if (after.kind === 'sent') {
        yield* run('UPDATE channels SET last_success_at_ms = $2 WHERE id = $1', [channelId, nowMs])
        return undefined
      }
      const reason = yield* giveUpReason(after.kind, channelId, nowMs)
      if (reason !== undefined)
        yield* disableChannel({ id: channelId, orgId }, { reason, by: { kind: 'system' }, nowMs })
      return reason
    })
}

/** Why a channel is disabled after a failure; `undefined` when it is not, or was disabled before. */
function* giveUpReason(
  kind: 'failed' | 'gone',
  channelId: string,
  nowMs: number,
): Script<string | undefined> {
  // Since the last success, or since it was enabled.
  const since = 'greatest(c.enabled_at_ms, coalesce(c.last_success_at_ms, 0))'
  const health = yield* row<{ sinceMs: number; failedDeliveries: number }>(
    `SELECT ${since} AS "sinceMs", (SELECT count(*) FROM deliveries d WHERE d.channel_id = c.id
       AND d.state = 'failed' AND d.ended_ms > ${since}) AS "failedDeliveries"
     FROM channels c WHERE c.id = $1 AND c.state = 'active'`,
    [channelId],
  )
  if (health === undefined) return undefined
  if (kind === 'gone') return 'the receiver responded with 410'
  return isGivenUp({ nowMs, ...health }) ? 'no delivery succeeded for 5 days' : undefined
}
