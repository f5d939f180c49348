import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type { Incident } from '../../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../../api/contract/service.ts'
import type { CertificateNotice } from '../../../domain/certificateNotices.ts'
import type { Environment } from '../../../domain/environment.ts'
import {
  certificatePayload,
  incidentPayload,
  type NamedEndpoint,
  type NamedOrg,
  testPayload,
} from '../../../domain/notifications/events.ts'
import type { Payload } from '../../../domain/notifications/payload.ts'

/** Writes events and their deliveries, in the transaction of their cause. Without a channel that wants one, none is written. */
export interface Announce {
  /** The updates of `incident` from index `from` on. */
  readonly incident: (orgId: string, incident: Incident, from: number) => void
  readonly certificate: (notice: CertificateNotice) => void
  /** A test of one channel; the id of its delivery. */
  readonly test: (orgId: string, channel: { readonly id: string; readonly name: string }) => string
}

interface WantingRow {
  readonly id: string
  /** JSON. */
  readonly events: string
  readonly serviceIds: string | null
}

/** Prepares the writing of events on `writer`. */
export function prepareAnnounce(
  writer: Database,
  { nowMs, uuid }: Pick<Environment, 'nowMs' | 'uuid'>,
): Announce {
  const active = writer.prepare<[string], WantingRow>(
    `SELECT id, events, service_ids AS serviceIds FROM channels WHERE org_id = ? AND state = 'active'`,
  )
  const { orgOf, serviceOf, endpointOf } = prepareNames(writer)
  const write = prepareEvent(writer, { nowMs, uuid })

  function wanting(orgId: string, serviceIds: readonly string[]): readonly WantingRow[] {
    return active.all(orgId).filter(({ serviceIds: only }) => {
      // True because only arrays of ids are stored.
      const wanted = only === null ? null : (JSON.parse(only) as readonly string[])
      return wanted === null || serviceIds.some((id) => wanted.includes(id))
    })
  }

  function send(orgId: string, payload: Payload, channels: readonly WantingRow[]): void {
    const { type } = payload
    // Its quotes make a type unlike every part of another.
    const wanted = channels.filter(({ events }) => events.includes(JSON.stringify(type)))
    if (wanted.length > 0) write(orgId, payload, wanted)
  }

  return {
    incident: (orgId, incident, from) => {
      const channels = wanting(orgId, incident.service_ids)
      if (channels.length === 0) return
      const names = {
        org: orgOf(orgId),
        services: incident.service_ids.map((id) => named(id, serviceOf(id))),
      }
      for (const index of incident.updates.keys()) {
        const payload = index < from ? undefined : incidentPayload(incident, index, names)
        if (payload !== undefined) send(orgId, payload, channels)
      }
    },
    certificate: (notice) => {
      const endpoints = notice.endpoint_ids.flatMap((id) => endpointOf(id) ?? [])
      const orgId = notice.org_id
      const channels = wanting(
        orgId,
        endpoints.map(({ service }) => service.id),
      )
      if (channels.length === 0 || endpoints.length === 0) return
      send(orgId, certificatePayload(notice, { org: orgOf(orgId), endpoints, nowMs: nowMs() }), channels)
    },
    test: (orgId, { id, name }) => {
      const [webhookId = ''] = write(orgId, testPayload(orgOf(orgId), { id, name }, nowMs()), [{ id }])
      return webhookId
    },
  }
}

function named(id: string, service: ServiceResponse | undefined): { id: string; name: string | null } {
  return { id, name: service?.name ?? null }
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

/** Inserts an event and its deliveries; the ids of these. */
function prepareEvent(writer: Database, { nowMs, uuid }: Pick<Environment, 'nowMs' | 'uuid'>) {
  const insert = writer.prepare(
    'INSERT INTO events (id, org_id, type, at_ms, incident_id, sequence, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const deliver = writer.prepare(
    `INSERT INTO deliveries (event_seq, channel_id, webhook_id, incident_id, state, due_ms)
     VALUES (?, ?, ?, ?, 'waiting', ?)`,
  )
  return (
    orgId: string,
    payload: Payload,
    channels: readonly { readonly id: string }[],
  ): readonly string[] => {
    const id = uuid()
    const now = nowMs()
    const incidentId = 'incident' in payload.data ? payload.data.incident.id : null
    const sequence = 'sequence' in payload ? payload.sequence : null
    const { lastInsertRowid: seq } = insert.run(
      ...[id, orgId, payload.type, now, incidentId, sequence, JSON.stringify(payload)],
    )
    return channels.map((channel) => {
      const webhookId = webhookIdOf(id, channel.id)
      deliver.run(seq, channel.id, webhookId, incidentId, now)
      return webhookId
    })
  }
}

/** The id under which a channel receives an event: of both, so that two channels with one receiver differ. */
function webhookIdOf(eventId: string, channelId: string): string {
  return `msg_${createHash('sha256').update(`${eventId} ${channelId}`).digest('hex').slice(0, 32)}`
}
