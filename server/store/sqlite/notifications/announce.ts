import type { Database } from 'better-sqlite3'
import type { Incident } from '../../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../../api/contract/service.ts'
import type { CertificateNotice } from '../../../domain/certificateNotices.ts'
import type { Environment } from '../../../domain/environment.ts'
import type { NamedEndpoint, NamedOrg } from '../../../domain/notifications/events.ts'
import {
  certificateEvents,
  type EventRow,
  incidentEvents,
  type SubscribedChannel,
} from '../../shared/events.ts'

/** Writes events and their deliveries, in the transaction of their cause. Without a channel that wants one, none is written. */
export interface Announce {
  /** The updates of `incident` from index `from` on. */
  readonly incident: (orgId: string, incident: Incident, from: number) => void
  readonly certificate: (notice: CertificateNotice) => void
}

/** Prepares the writing of events on `writer`. */
export function prepareAnnounce(writer: Database, tools: Pick<Environment, 'nowMs' | 'uuid'>): Announce {
  const active = writer.prepare<[string], { id: string; events: string; serviceIds: string | null }>(
    `SELECT id, events, service_ids AS serviceIds FROM channels WHERE org_id = ? AND state = 'active'`,
  )
  const { orgOf, serviceOf, endpointOf } = prepareNames(writer)
  const write = prepareEvent(writer)
  const channelsOf = (orgId: string): readonly SubscribedChannel[] =>
    active.all(orgId).map(({ id, events, serviceIds }) => ({
      id,
      events: JSON.parse(events),
      serviceIds: serviceIds === null ? null : JSON.parse(serviceIds),
    }))
  return {
    incident: (orgId, incident, from) => {
      const channels = channelsOf(orgId)
      if (channels.length === 0) return
      const nameOf = (id: string) => serviceOf(id)?.name ?? null
      incidentEvents({ org: orgOf(orgId), incident, from }, channels, nameOf, tools).forEach(write)
    },
    certificate: (notice) => {
      const channels = channelsOf(notice.org_id)
      if (channels.length === 0) return
      const endpoints = notice.endpoint_ids.flatMap((id) => endpointOf(id) ?? [])
      certificateEvents(notice, { org: orgOf(notice.org_id), endpoints }, channels, tools).forEach(write)
    },
  }
}

function prepareNames(writer: Database) {
  const org = writer.prepare<[string], NamedOrg>('SELECT id, name FROM orgs WHERE id = ?')
  const service = writer.prepare<[string], string>('SELECT response FROM services WHERE id = ?').pluck()
  const ofEndpoint = writer
    .prepare<[string], string>('SELECT service_id FROM numbered_endpoints WHERE endpoint_id = ?')
    .pluck()
  const serviceOf = (id: string): ServiceResponse | undefined => {
    const text = service.get(id)
    // True because only rendered ServiceResponses are stored.
    return text === undefined ? undefined : (JSON.parse(text) as ServiceResponse)
  }
  return {
    orgOf: (id: string): NamedOrg => org.get(id) ?? { id, name: '' },
    serviceOf,
    /** `undefined` when its service was deleted. */
    endpointOf: (id: string): NamedEndpoint | undefined => {
      const found = serviceOf(ofEndpoint.get(id) ?? '')
      if (found === undefined) return undefined
      const name = found.endpoints.find((endpoint) => endpoint.id === id)?.name ?? null
      return { id, name, service: { id: found.id, name: found.name } }
    },
  }
}

/** Inserts an event and its deliveries. */
function prepareEvent(writer: Database): (event: EventRow) => void {
  const insert = writer.prepare(
    'INSERT INTO events (id, org_id, type, at_ms, incident_id, sequence, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const deliver = writer.prepare(
    `INSERT INTO deliveries (event_seq, channel_id, webhook_id, incident_id, state, due_ms)
     VALUES (?, ?, ?, ?, 'waiting', ?)`,
  )
  return ({ id, orgId, type, atMs, incidentId, sequence, body, deliveries }) => {
    const { lastInsertRowid: seq } = insert.run(id, orgId, type, atMs, incidentId, sequence, body)
    for (const { channelId, webhookId } of deliveries) {
      deliver.run(seq, channelId, webhookId, incidentId, atMs)
    }
  }
}
