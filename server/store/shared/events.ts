import { createHash } from 'node:crypto'
import type { Incident } from '../../../api/contract/incident.ts'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { Environment } from '../../domain/environment.ts'
import {
  certificatePayload,
  incidentPayload,
  type NamedEndpoint,
  type NamedOrg,
  type NamedService,
  testPayload,
} from '../../domain/notifications/events.ts'
import type { Payload } from '../../domain/notifications/payload.ts'
import type { StoredChannel } from '../notificationStore.ts'

/** An active channel, with what it wants. */
export type WantingChannel = Pick<StoredChannel, 'id' | 'events' | 'serviceIds'>

/** An event to be stored, with its deliveries, which are due at once. */
export interface EventRow {
  readonly id: string
  readonly orgId: string
  readonly type: Payload['type']
  readonly atMs: number
  readonly incidentId: string | null
  readonly sequence: number | null
  /** The payload as JSON. */
  readonly body: string
  readonly deliveries: readonly { readonly channelId: string; readonly webhookId: string }[]
}

type EventTools = Pick<Environment, 'nowMs' | 'uuid'>

/** Those of `channels` that want events of any of these services. Pure. */
export function channelsOf(
  channels: readonly WantingChannel[],
  serviceIds: readonly string[],
): readonly WantingChannel[] {
  return channels.filter(
    ({ serviceIds: wanted }) => wanted === null || serviceIds.some((id) => wanted.includes(id)),
  )
}

/** The events of the updates of `incident` from index `from` on, for the channels that want them; without one there is none. */
export function incidentEvents(
  { org, incident, from }: { readonly org: NamedOrg; readonly incident: Incident; readonly from: number },
  channels: readonly WantingChannel[],
  nameOf: (serviceId: string) => string | null,
  tools: EventTools,
): readonly EventRow[] {
  const wanting = channelsOf(channels, incident.service_ids)
  if (wanting.length === 0) return []
  const services = incident.service_ids.map((id): NamedService => ({ id, name: nameOf(id) }))
  return [...incident.updates.keys()].slice(from).flatMap((index) => {
    const payload = incidentPayload(incident, index, { org, services })
    return payload === undefined ? [] : eventsOf(org.id, payload, wanting, tools)
  })
}

/** The event of a certificate that ends soon; none when no channel wants it, or all its `endpoints` are gone. */
export function certificateEvents(
  notice: CertificateNotice,
  { org, endpoints }: { readonly org: NamedOrg; readonly endpoints: readonly NamedEndpoint[] },
  channels: readonly WantingChannel[],
  tools: EventTools,
): readonly EventRow[] {
  const wanting = channelsOf(
    channels,
    endpoints.map(({ service }) => service.id),
  )
  if (endpoints.length === 0) return []
  return eventsOf(
    org.id,
    certificatePayload(notice, { org, endpoints, nowMs: tools.nowMs() }),
    wanting,
    tools,
  )
}

/** The event of a test of one channel. */
export function testEvent(
  org: NamedOrg,
  { id, name }: { readonly id: string; readonly name: string },
  tools: EventTools,
): EventRow {
  return eventOf(org.id, testPayload(org, { id, name }, tools.nowMs()), [{ id }], tools)
}

/** The event of `payload` for those of `channels` that want its type. */
function eventsOf(
  orgId: string,
  payload: Payload,
  channels: readonly WantingChannel[],
  tools: EventTools,
): readonly EventRow[] {
  const wanting = channels.filter(({ events }) => events.some((type) => type === payload.type))
  return wanting.length === 0 ? [] : [eventOf(orgId, payload, wanting, tools)]
}

function eventOf(
  orgId: string,
  payload: Payload,
  channels: readonly { readonly id: string }[],
  { nowMs, uuid }: EventTools,
): EventRow {
  const id = uuid()
  return {
    ...{ id, orgId, type: payload.type, atMs: nowMs() },
    incidentId: 'incident' in payload.data ? payload.data.incident.id : null,
    sequence: 'sequence' in payload ? payload.sequence : null,
    body: JSON.stringify(payload),
    deliveries: channels.map((channel) => ({
      channelId: channel.id,
      webhookId: webhookIdOf(id, channel.id),
    })),
  }
}

/** The id under which a channel receives an event: of both, so that two channels with one receiver differ. */
function webhookIdOf(eventId: string, channelId: string): string {
  return `msg_${createHash('sha256').update(`${eventId} ${channelId}`).digest('hex').slice(0, 32)}`
}
