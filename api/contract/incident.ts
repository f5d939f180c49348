import * as z from 'zod'
import { INCIDENT_STATUSES, SEVERITIES } from './incidentTerms.ts'
import { readableText } from './text.ts'

/** Longest title (code points). Gap G18. */
export const TITLE_CHARS_MAX = 500
/** Longest message or update body (code points). Gap G18. */
export const MESSAGE_CHARS_MAX = 20_000
/** Maximum number of services that one incident may name. Gap G18. */
export const INCIDENT_SERVICES_MAX = 100

/** Contract: Incident. */
export const severitySchema = z.enum(SEVERITIES, { error: `must be one of ${SEVERITIES.join(', ')}` })
/** Contract: Incident. */
export const incidentStatusSchema = z.enum(INCIDENT_STATUSES, {
  error: `must be one of ${INCIDENT_STATUSES.join(', ')}`,
})

/** Body of POST /v1/incidents. A `kind` is ignored like every unknown field. */
export const incidentRequestSchema = z.object({
  title: readableText({ charsMax: TITLE_CHARS_MAX, lines: 'one line' }),
  service_ids: z
    .array(z.guid({ error: 'must be a UUID' }), { error: 'must be an array of service ids' })
    .min(1, { error: 'must name at least one service' })
    .max(INCIDENT_SERVICES_MAX, { error: `must name at most ${INCIDENT_SERVICES_MAX} services` }),
  // It becomes the body of the incident's first update, which is not empty (Gap G36).
  message: readableText({ charsMax: MESSAGE_CHARS_MAX, lines: 'many lines' }),
  severity: severitySchema,
})
export type IncidentRequest = z.infer<typeof incidentRequestSchema>

/** Body of POST /v1/incidents/{id}/updates. */
export const incidentUpdateRequestSchema = z.object({
  body: readableText({ charsMax: MESSAGE_CHARS_MAX, lines: 'many lines' }),
  status: incidentStatusSchema,
  severity: severitySchema.optional(),
})
export type IncidentUpdateRequest = z.infer<typeof incidentUpdateRequestSchema>

/** One entry of an incident's log. */
export const incidentUpdateSchema = z.object({
  id: z.string(),
  body: z.string(),
  status_at_update: incidentStatusSchema,
  created_at: z.iso.datetime(),
})
export type IncidentUpdate = z.infer<typeof incidentUpdateSchema>

/** An incident as the API returns it. */
export const incidentSchema = z.object({
  id: z.guid(),
  kind: z.literal('incident'),
  title: z.string(),
  status: incidentStatusSchema,
  severity: severitySchema,
  created_by: z.null(),
  created_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().nullable(),
  service_ids: z.array(z.guid()),
  display_id: z.string().regex(/^INC-\d+$/),
  updated_at: z.iso.datetime(),
  auto_managed: z.boolean(),
  updates: z.array(incidentUpdateSchema),
})
export type Incident = z.infer<typeof incidentSchema>

/** A page of incidents. Gap G3. */
export const incidentPageSchema = z.object({
  items: z.array(incidentSchema),
  page: z.int(),
  limit: z.int(),
  total: z.int(),
  total_pages: z.int(),
})
export type IncidentPage = z.infer<typeof incidentPageSchema>
