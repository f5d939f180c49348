import { row, run, type Script } from '../scripts/script.ts'
import type { EventRow } from '../shared/events.ts'

/** Stores an event and its deliveries. The caller has locked its organisation. */
export function* insertEvent(event: EventRow): Script<void> {
  const { id, orgId, type, atMs, incidentId, sequence, body } = event
  const stored = yield* row<{ seq: number }>(
    `INSERT INTO events (id, org_id, type, at_ms, incident_id, sequence, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING seq`,
    [id, orgId, type, atMs, incidentId, sequence, body],
  )
  for (const { channelId, webhookId } of event.deliveries) {
    yield* run(
      `INSERT INTO deliveries (event_seq, channel_id, webhook_id, incident_id, state, due_ms)
       VALUES ($1, $2, $3, $4, 'waiting', $5)`,
      [stored?.seq ?? null, channelId, webhookId, incidentId, atMs],
    )
  }
}
