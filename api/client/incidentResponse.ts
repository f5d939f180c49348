/** Decodes incidents from any server that implements the API document, which leaves more open than our server does. */
import * as z from 'zod'
import { type Incident, incidentSchema, incidentUpdateSchema } from '../contract/incident.ts'

const instant = z.iso.datetime({ offset: true })

/** An incident. `created_by` is read as null, whatever a server sends; instants may have an offset. */
export const incidentResponseSchema: z.ZodType<Incident> = incidentSchema.extend({
  created_by: z.unknown().transform(() => null),
  created_at: instant,
  resolved_at: instant.nullable(),
  updated_at: instant,
  updates: z.array(incidentUpdateSchema.extend({ created_at: instant })),
})

/** A page of incidents. */
export interface IncidentList {
  readonly items: readonly Incident[]
  /** Number of pages; `undefined` when the server does not give it in our form (Gap G3). */
  readonly totalPages: number | undefined
}

/** The document shows no envelope: the items are the only member of the object that is an array. */
export const incidentListSchema: z.ZodType<IncidentList> = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .transform((page, context) => {
    const [entry, ...others] = Object.entries(page).filter(([, value]) => Array.isArray(value))
    if (entry === undefined || others.length > 0) {
      context.addIssue({ code: 'custom', message: 'must have one array, of incidents' })
      return z.NEVER
    }
    const [name, value] = entry
    const items = z.array(incidentResponseSchema).safeParse(value)
    if (!items.success) {
      for (const { path, message } of items.error.issues)
        context.addIssue({ code: 'custom', path: [name, ...path], message })
      return z.NEVER
    }
    const { total_pages: totalPages } = page
    return { items: items.data, totalPages: typeof totalPages === 'number' ? totalPages : undefined }
  })
