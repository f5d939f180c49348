import type { NotificationStore } from '../../notificationStore.ts'
import { type ChannelHealth, giveUpReason } from '../../shared/channelRules.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf, type Sql } from '../connections/sql.ts'
import { disableChannel } from './disable.ts'

/**
 * Records attempts. The previous number of attempts is a fence: an attempt is not recorded twice, by this process after
 * a lost connection or by another process. `release` releases the lease of the channel.
 */
export function prepareRecord(
  inTransaction: Pools['inTransaction'],
  release: (sql: Sql, channelId: string) => Promise<void>,
): NotificationStore['recordAttempt'] {
  return (delivery, { status, error, durationMs }, after, nowMs) =>
    inTransaction(async (sql) => {
      const { eventSeq, channelId, orgId, attempts } = delivery
      // A failure may disable the channel, and channels are locked after their organisation.
      if (after.kind === 'failed' || after.kind === 'gone') {
        await sql.rows('UPDATE orgs SET revision = revision + 1 WHERE id = $1', [orgId])
      }
      await sql.rows('SELECT FROM channels WHERE id = $1 FOR NO KEY UPDATE', [channelId])
      await release(sql, channelId)
      const counted = await sql.rows(
        `UPDATE deliveries SET attempts = attempts + 1 WHERE event_seq = $1 AND channel_id = $2 AND attempts = $3
         RETURNING attempts`,
        [eventSeq, channelId, attempts],
      )
      // Already recorded, or the channel was deleted meanwhile.
      if (counted.length === 0) return undefined
      await sql.rows(
        `INSERT INTO attempts (event_seq, channel_id, number, at_ms, status, error, ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [eventSeq, channelId, attempts + 1, nowMs - durationMs, status, error, durationMs],
      )
      if (after.kind === 'again') {
        const postpone = `UPDATE deliveries SET due_ms = $3
          WHERE event_seq = $1 AND channel_id = $2 AND state = 'waiting'`
        await sql.rows(postpone, [eventSeq, channelId, after.dueMs])
        return undefined
      }
      const end = 'UPDATE deliveries SET state = $3, ended_ms = $4 WHERE event_seq = $1 AND channel_id = $2'
      await sql.rows(end, [eventSeq, channelId, after.kind === 'sent' ? 'sent' : 'failed', nowMs])
      if (after.kind === 'sent') {
        await sql.rows('UPDATE channels SET last_success_at_ms = $2 WHERE id = $1', [channelId, nowMs])
        return undefined
      }
      const health = await healthOf(sql, channelId)
      if (health === undefined) return undefined
      const reason = giveUpReason(after.kind, health, nowMs)
      if (reason !== undefined) {
        await disableChannel(sql, { id: channelId, orgId }, { reason, by: { kind: 'system' }, nowMs })
      }
      return reason
    })
}

/** Failures of an active channel; `undefined` for a disabled one. */
function healthOf(sql: Sql, channelId: string): Promise<ChannelHealth | undefined> {
  const since = 'greatest(c.enabled_at_ms, coalesce(c.last_success_at_ms, 0))'
  return rowOf<ChannelHealth>(
    sql,
    `SELECT ${since} AS "sinceMs", (SELECT count(*) FROM deliveries d WHERE d.channel_id = c.id
       AND d.state = 'failed' AND d.ended_ms > ${since}) AS "failedDeliveries"
     FROM channels c WHERE c.id = $1 AND c.state = 'active'`,
    [channelId],
  )
}
