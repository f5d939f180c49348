import * as z from 'zod'

/** The rights of a key. Contract: Authentication, rule 5. */
export const SCOPES = ['read_only', 'read_write'] as const
export type Scope = (typeof SCOPES)[number]

/** Response to GET /v1/org. `plan` is open text for clients: a fifth plan is data, not code (Gap G1). */
export const orgSchema = z.object({ id: z.guid(), name: z.string(), plan: z.string(), scope: z.enum(SCOPES) })
export type Org = z.infer<typeof orgSchema>

/** One place from which services are monitored. Contract: Region. */
export const regionSchema = z.object({ code: z.string(), city: z.string(), country: z.string() })
export type Region = z.infer<typeof regionSchema>
