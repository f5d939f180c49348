import type { Database } from 'better-sqlite3'
import { FAILED_KEPT_MS, SENT_KEPT_MS } from '../../shared/deliveryRetention.ts'

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
