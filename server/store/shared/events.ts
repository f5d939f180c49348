import { createHash } from 'node:crypto'
import type { Incident } from '../../../api/contract/incident.ts'
import type { CertificateNotice } from '../../domain/certificateNotices.ts'
import type { Environment } from '../../domain/environment.ts'
import { certificatePayload, incidentPayload, testPayload } from '../../domain/notifications/events.ts'
import type { NamedEndpoint, NamedOrg, NamedService, Payload } from '../../domain/notifications/payload.ts'
import type { StoredChannel } from '../notificationStore.ts'

/** An active channel with the events and services it subscribes to. */
export type SubscribedChannel = Pick<StoredChannel, 'id' | 'events' | 'serviceIds'>

/** An event to store, with its deliveries, which are due at once. */
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

/** The channels that subscribe to any of these services. Pure. */
export function channelsOf(
  channels: readonly SubscribedChannel[],
  serviceIds: readonly string[],
): readonly SubscribedChannel[] {
  return channels.filter(
    ({ serviceIds: wanted }) => wanted === null || serviceIds.some((id) => wanted.includes(id)),
  )
}

/** The events of the updates of `incident` from index `from` on; none when no channel subscribes to them. */
export function incidentEvents(
  { org, incident, from }: { readonly org: NamedOrg; readonly incident: Incident; readonly from: number },
  channels: readonly SubscribedChannel[],
  nameOf: (serviceId: string) => string | null,
  tools: EventTools,
): readonly EventRow[] {
  const subscribed = channelsOf(channels, incident.service_ids)
  if (subscribed.length === 0) return []
  const services = incident.service_ids.map((id): NamedService => ({ id, name: nameOf(id) }))
  return [...incident.updates.keys()].slice(from).flatMap((index) => {
    const payload = incidentPayload(incident, index, { org, services })
    return payload === undefined ? [] : eventsOf(org.id, payload, subscribed, tools)
  })
}

/** The event of a certificate that expires soon; none when no channel subscribes to it, or `endpoints` is empty. */
export function certificateEvents(
  notice: CertificateNotice,
  { org, endpoints }: { readonly org: NamedOrg; readonly endpoints: readonly NamedEndpoint[] },
  channels: readonly SubscribedChannel[],
  tools: EventTools,
): readonly EventRow[] {
  const subscribed = channelsOf(
    channels,
    endpoints.map(({ service }) => service.id),
  )
  if (endpoints.length === 0) return []
  return eventsOf(
    org.id,
    certificatePayload(notice, { org, endpoints, nowMs: tools.nowMs() }),
    subscribed,
    tools,
  )
}

/** The event of a channel test. */
export function testEvent(
  org: NamedOrg,
  { id, name }: { readonly id: string; readonly name: string },
  tools: EventTools,
): EventRow {
  return eventOf(org.id, testPayload(org, { id, name }, tools.nowMs()), [{ id }], tools)
}

/** The event of `payload` for the channels that subscribe to its type. */
function eventsOf(
  orgId: string,
  payload: Payload,
  channels: readonly SubscribedChannel[],
  tools: EventTools,
): readonly EventRow[] {
  const subscribed = channels.filter(({ events }) => events.some((type) => type === payload.type))
  return subscribed.length === 0 ? [] : [eventOf(orgId, payload, subscribed, tools)]
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

/** The webhook id of an event for a channel: two channels with the same receiver get different ids. */
function webhookIdOf(eventId: string, channelId: string): string {
  return `msg_${createHash('sha256').update(`${eventId} ${channelId}`).digest('hex').slice(0, 32)}`
}
