import type { EventRow } from '../../shared/events.ts'
import type { Draft } from './draft.ts'
import { columnsOf, type Parameters } from './parameters.ts'

/** A named part of a write, which other parts refer to. */
export interface NamedPart {
  readonly name: string
  readonly text: string
}

const EVENT_COLUMNS = columnsOf<EventRow>({
  ...{ id: 'uuid', orgId: 'uuid', type: 'text', atMs: 'bigint', incidentId: 'uuid' },
  ...{ sequence: 'integer', body: 'text' },
})

/** A delivery of an event. */
type DeliveryRow = Pick<EventRow, 'id' | 'incidentId' | 'atMs'> & EventRow['deliveries'][number]

const DELIVERY_COLUMNS = columnsOf<DeliveryRow>({
  ...{ id: 'uuid', channelId: 'uuid', webhookId: 'text', incidentId: 'uuid', atMs: 'bigint' },
})

/** Parts of a write for events and their deliveries. */
export function eventParts({ events }: Draft, parameters: Parameters): readonly (NamedPart | string)[] {
  if (events.length === 0) return []
  const deliveries = events.flatMap((event) => event.deliveries.map((one) => ({ ...event, ...one })))
  const made = `${parameters.insert('events', { columns: EVENT_COLUMNS, rows: events })} RETURNING id, seq`
  const text = `INSERT INTO deliveries (event_seq, channel_id, webhook_id, incident_id, state, due_ms)
    SELECT e.seq, u.channel_id, u.webhook_id, u.incident_id, 'waiting', u.at_ms
    FROM events_made e JOIN ${parameters.table(DELIVERY_COLUMNS, deliveries)} ON u.id = e.id`
  return [{ name: 'events_made', text: made }, text]
}
