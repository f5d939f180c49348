import type { EventRow } from '../../shared/events.ts'
import type { Draft } from './draft.ts'
import type { Column, Parameters } from './parameters.ts'

/** A named part of a write, which other parts refer to. */
export interface NamedPart {
  readonly name: string
  readonly text: string
}

const EVENT_COLUMNS: readonly Column<EventRow>[] = [
  ['id', 'uuid', ({ id }) => id],
  ['org_id', 'uuid', ({ orgId }) => orgId],
  ['type', 'text', ({ type }) => type],
  ['at_ms', 'bigint', ({ atMs }) => atMs],
  ['incident_id', 'uuid', ({ incidentId }) => incidentId],
  ['sequence', 'integer', ({ sequence }) => sequence],
  ['body', 'text', ({ body }) => body],
]

/** A delivery of an event. */
type DeliveryRow = Pick<EventRow, 'id' | 'incidentId' | 'atMs'> & EventRow['deliveries'][number]

const DELIVERY_COLUMNS: readonly Column<DeliveryRow>[] = [
  ['event_id', 'uuid', ({ id }) => id],
  ['channel_id', 'uuid', ({ channelId }) => channelId],
  ['webhook_id', 'text', ({ webhookId }) => webhookId],
  ['incident_id', 'uuid', ({ incidentId }) => incidentId],
  ['due_ms', 'bigint', ({ atMs }) => atMs],
]

/** Parts of a write for events and their deliveries. */
export function eventParts({ events }: Draft, parameters: Parameters): readonly (NamedPart | string)[] {
  if (events.length === 0) return []
  const deliveries = events.flatMap((event) => event.deliveries.map((one) => ({ ...event, ...one })))
  const made = `${parameters.insert('events', { columns: EVENT_COLUMNS, rows: events })} RETURNING id, seq`
  const text = `INSERT INTO deliveries (event_seq, channel_id, webhook_id, incident_id, state, due_ms)
    SELECT e.seq, u.channel_id, u.webhook_id, u.incident_id, 'waiting', u.due_ms
    FROM events_made e JOIN ${parameters.table(DELIVERY_COLUMNS, deliveries)} ON u.event_id = e.id`
  return [{ name: 'events_made', text: made }, text]
}
