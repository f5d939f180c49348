import type { Draft } from './draft.ts'
import { type Column, namesOf, type Parameters } from './parameters.ts'

/** A named part of a write, which other parts refer to. */
export interface NamedPart {
  readonly name: string
  readonly text: string
}

const EVENT_COLUMNS: readonly Column[] = [
  ['id', 'uuid'],
  ['org_id', 'uuid'],
  ['type', 'text'],
  ['at_ms', 'bigint'],
  ['incident_id', 'uuid'],
  ['sequence', 'integer'],
  ['body', 'text'],
]
const DELIVERY_COLUMNS: readonly Column[] = [
  ['event_id', 'uuid'],
  ['channel_id', 'uuid'],
  ['webhook_id', 'text'],
  ['incident_id', 'uuid'],
  ['due_ms', 'bigint'],
]

/** Parts of a write for events and their deliveries. */
export function eventParts({ events }: Draft, parameters: Parameters): readonly (NamedPart | string)[] {
  if (events.length === 0) return []
  const rows = events.map(({ id, orgId, type, atMs, incidentId, sequence, body }) => [
    ...[id, orgId, type, atMs, incidentId, sequence, body],
  ])
  const deliveries = events.flatMap(({ id, incidentId, atMs, deliveries: wanted }) =>
    wanted.map(({ channelId, webhookId }) => [id, channelId, webhookId, incidentId, atMs]),
  )
  const made = `INSERT INTO events (${namesOf(EVENT_COLUMNS)}) SELECT ${namesOf(EVENT_COLUMNS, 'u.')}
    FROM o, ${parameters.table(EVENT_COLUMNS, rows)} ORDER BY u.n RETURNING id, seq`
  const text = `INSERT INTO deliveries (event_seq, channel_id, webhook_id, incident_id, state, due_ms)
    SELECT e.seq, u.channel_id, u.webhook_id, u.incident_id, 'waiting', u.due_ms
    FROM events_made e JOIN ${parameters.table(DELIVERY_COLUMNS, deliveries)} ON u.event_id = e.id`
  return [{ name: 'events_made', text: made }, text]
}
