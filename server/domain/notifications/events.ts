import type { Incident, IncidentUpdate } from '../../../api/contract/incident.ts'
import type { CertificateNotice } from '../certificateNotices.ts'
import { timestamp } from '../environment.ts'
import {
  type CertificatePayload,
  type IncidentPayload,
  type NamedEndpoint,
  type NamedOrg,
  type NamedService,
  type Payload,
  type TestPayload,
  UPDATE_CHARS_MAX,
} from './payload.ts'

const MS_PER_SECOND = 1_000
const DAY_S = 24 * 60 * 60

/** The payload about the update at `index` of `incident`, with the event `incident.created` for the first one. Pure. */
export function incidentPayload(
  incident: Incident,
  index: number,
  { org, services }: { readonly org: NamedOrg; readonly services: readonly NamedService[] },
): IncidentPayload | undefined {
  const update = incident.updates[index]
  if (update === undefined) return undefined
  const { id, display_id, title, status, severity, created_at, updated_at, resolved_at, auto_managed } =
    incident
  const shown = { id, display_id, title, status, severity, created_at, updated_at, resolved_at, auto_managed }
  const rest = {
    timestamp: update.created_at,
    sequence: index + 1,
    data: { org, incident: { ...shown, services: [...services] }, update: shownUpdate(update), url: null },
  }
  return index === 0 ? { type: 'incident.created', ...rest } : { type: 'incident.updated', ...rest }
}

function shownUpdate({ id, body, status_at_update, created_at }: IncidentUpdate) {
  const characters = [...body]
  const truncated = characters.length > UPDATE_CHARS_MAX
  const text = truncated ? characters.slice(0, UPDATE_CHARS_MAX).join('') : body
  return { id, body: text, status_at_update, created_at, truncated }
}

/**
 * The payload about a certificate that expires soon. It has only host and port, because a URL may contain a token.
 * Pure.
 */
export function certificatePayload(
  notice: CertificateNotice,
  { org, endpoints, nowMs }: { org: NamedOrg; endpoints: readonly NamedEndpoint[]; nowMs: number },
): CertificatePayload {
  const { host, port, subject, issuer, serial = null, fingerprint: sha256, not_before_s } = notice
  const instantOf = (seconds: number): string => timestamp(seconds * MS_PER_SECOND)
  return {
    type: 'certificate.expiring',
    timestamp: timestamp(nowMs),
    data: {
      ...{ org, host, port, endpoints: [...endpoints] },
      certificate: {
        ...{ subject, issuer, serial, sha256 },
        not_before: not_before_s === undefined ? null : instantOf(not_before_s),
        not_after: instantOf(notice.not_after_s),
      },
      days_left: notice.days_left,
      threshold_days: Math.floor(notice.threshold_s / DAY_S),
      url: null,
    },
  }
}

/**
 * `payload` with the page of the console at `consoleUrl` about its incident, or about the first service with its
 * certificate. Pure.
 */
export function linkedPayload(payload: Payload, consoleUrl: string): Payload {
  switch (payload.type) {
    case 'incident.created':
    case 'incident.updated': {
      const { org, incident } = payload.data
      return {
        ...payload,
        data: { ...payload.data, url: `${consoleUrl}/o/${org.id}/incidents/${incident.id}` },
      }
    }
    case 'certificate.expiring': {
      const { org, endpoints } = payload.data
      const service = endpoints[0]?.service.id
      const url = service === undefined ? null : `${consoleUrl}/o/${org.id}/services/${service}`
      return { ...payload, data: { ...payload.data, url } }
    }
    case 'channel.test':
      return payload
  }
}

/** The payload for a test of `channel`. Pure. */
export function testPayload(
  org: NamedOrg,
  channel: { id: string; name: string },
  nowMs: number,
): TestPayload {
  return { type: 'channel.test', timestamp: timestamp(nowMs), data: { org, channel } }
}
