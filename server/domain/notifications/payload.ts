import * as z from 'zod'
import { incidentStatusSchema, severitySchema } from '../../../api/contract/incident.ts'

/** Maximum length of an update's text in a payload (code points). Gap G9. */
export const UPDATE_CHARS_MAX = 8_000

/** Events that a channel can subscribe to. Contract: Events, rule 2. */
export const CHANNEL_EVENTS = ['incident.created', 'incident.updated', 'certificate.expiring'] as const
export type ChannelEvent = (typeof CHANNEL_EVENTS)[number]
/** All events. A test goes to its channel regardless of the subscribed events. */
export type EventType = ChannelEvent | 'channel.test'

const instant = z.iso.datetime()
const org = z.object({ id: z.guid(), name: z.string() })
const service = z.object({
  id: z.guid(),
  name: z.string().nullable().describe('null when the service was deleted'),
})
const endpoint = z.object({ id: z.guid(), name: z.string().nullable(), service })
const url = z.url().nullable().describe('page in the console; null when the server has no --console-url')

function incidentEvent<Type extends EventType>(type: Type) {
  return z.object({
    type: z.literal(type),
    timestamp: instant,
    sequence: z.int().min(1).describe('number of the update within the incident, from 1'),
    data: z.object({
      org,
      incident: z.object({
        id: z.guid(),
        display_id: z.string(),
        title: z.string(),
        status: incidentStatusSchema,
        severity: severitySchema,
        created_at: instant,
        updated_at: instant,
        resolved_at: instant.nullable(),
        auto_managed: z.boolean(),
        services: z.array(service),
      }),
      update: z.object({
        id: z.string(),
        body: z.string(),
        status_at_update: incidentStatusSchema,
        created_at: instant,
        truncated: z.boolean().describe(`whether body was cut after ${UPDATE_CHARS_MAX} characters`),
      }),
      url,
    }),
  })
}

const certificateEvent = z.object({
  type: z.literal('certificate.expiring'),
  timestamp: instant,
  data: z.object({
    org,
    host: z.string(),
    port: z.int(),
    endpoints: z.array(endpoint),
    certificate: z.object({
      subject: z.string(),
      issuer: z.string(),
      serial: z.string().nullable(),
      sha256: z.string(),
      not_before: instant.nullable(),
      not_after: instant.describe('the earliest end of the certificate and its chain'),
    }),
    days_left: z.int().describe('whole days; negative once it has ended'),
    threshold_days: z.int().describe('days before the end at which this notice was due; 0 once it has ended'),
    url,
  }),
})

const testEvent = z.object({
  type: z.literal('channel.test'),
  timestamp: instant,
  data: z.object({ org, channel: z.object({ id: z.guid(), name: z.string() }) }),
})

/** The body of each event, as a channel of kind `webhook` receives it. Gap G9. */
export const PAYLOADS = {
  'incident.created': incidentEvent('incident.created'),
  'incident.updated': incidentEvent('incident.updated'),
  'certificate.expiring': certificateEvent,
  'channel.test': testEvent,
} as const satisfies Record<EventType, z.ZodType>

/** An organisation in a payload. */
export type NamedOrg = z.infer<typeof org>
/** A service in a payload. */
export type NamedService = z.infer<typeof service>
/** An endpoint in a payload. */
export type NamedEndpoint = z.infer<typeof endpoint>
export type IncidentPayload = z.infer<(typeof PAYLOADS)['incident.created' | 'incident.updated']>
export type CertificatePayload = z.infer<(typeof PAYLOADS)['certificate.expiring']>
export type TestPayload = z.infer<(typeof PAYLOADS)['channel.test']>
export type Payload = IncidentPayload | CertificatePayload | TestPayload
