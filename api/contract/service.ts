import * as z from 'zod'
import { assertionSchema, int32, timeoutSchema } from './assertion.ts'
import { endpointUrlProblem, URL_CHARS_MAX } from './endpointUrl.ts'
import { requestHeadersProblem } from './requestHeaders.ts'
import { tagged } from './tagged.ts'
import { readableText } from './text.ts'

/** Longest service or endpoint name (code points). Gap G18. */
export const NAME_CHARS_MAX = 255
/** Maximum number of assertions of one endpoint. Gap G18. */
export const ASSERTIONS_MAX = 50
/** Largest request body of a check (bytes of UTF-8). Gap G18. */
export const BODY_BYTES_MAX = 65_536

/** Contract: Call. */
export const METHODS = ['GET', 'POST'] as const
export type Method = (typeof METHODS)[number]

const utf8 = new TextEncoder()

/** A value that may be sealed. Contract: Sensitive values. */
export const sensitiveInputSchema = z.object(
  {
    value: z.string({ error: 'must be a string' }),
    sensitive: z.boolean({ error: 'must be true or false' }).optional(),
  },
  { error: 'must be an object { value, sensitive }' },
)
export type SensitiveInput = z.infer<typeof sensitiveInputSchema>

/** Such a value in a response: a sealed value is never returned. Contract: Sensitive values. */
export const sensitiveOutputSchema = tagged({ Plain: z.string(), Sealed: z.object({ key_id: z.string() }) })
export type SensitiveOutput = z.infer<typeof sensitiveOutputSchema>

const headersSchema = z
  .record(z.string(), sensitiveInputSchema, { error: 'must be an object of header name to value' })
  .superRefine((headers, context) => {
    const problem = requestHeadersProblem(headers)
    if (problem !== undefined) {
      context.addIssue({ code: 'custom', path: [...problem.path], message: problem.message })
    }
  })

const httpFields = {
  method: z.enum(METHODS, { error: `must be one of ${METHODS.join(', ')}` }),
  max_redirects_to_follow: int32(0).nullish(),
  with_dns: z.boolean({ error: 'must be true, false or null' }).nullish(),
  // The key is required, and null means the default: absent is an error. Contract: Call; Gap G14.
  timeout: timeoutSchema.nullable(),
}

const unsupported = z.never({ error: 'is not supported: only Http calls are monitored' })

/** The request of an HTTP check. Contract: Call, request form. */
export const httpCallInputSchema = z.object(
  {
    ...httpFields,
    body: sensitiveInputSchema
      .refine((body) => utf8.encode(body.value).length <= BODY_BYTES_MAX, {
        error: `must have at most ${BODY_BYTES_MAX} bytes`,
      })
      .nullish(),
    headers: headersSchema.nullish(),
  },
  { error: 'must be an object { method, timeout, … }' },
)

/** Contract: Call, request form. GRPC and DNS are refused as an invalid definition (Gap G10). */
export const callInputSchema = tagged({ Http: httpCallInputSchema, GRPC: unsupported, DNS: unsupported })
export type CallInput = z.infer<typeof callInputSchema>

/** The request of an HTTP check without its secrets. Contract: Call, response form. */
export const httpCallOutputSchema = z.object({
  ...httpFields,
  body: sensitiveOutputSchema.nullish(),
  headers: z.record(z.string(), sensitiveOutputSchema).nullish(),
})

/** Contract: Call, response form. */
export const callOutputSchema = tagged({ Http: httpCallOutputSchema })
export type CallOutput = z.infer<typeof callOutputSchema>

const endpointName = readableText({
  charsMax: NAME_CHARS_MAX,
  lines: 'one line',
  mayBeEmpty: true,
  error: 'must be a string or null',
}).nullish()

const assertionsSchema = z
  .array(assertionSchema, { error: 'must be an array of assertions' })
  .max(ASSERTIONS_MAX, { error: `must have at most ${ASSERTIONS_MAX} assertions` })

/** Contract: EndpointInput. */
export const endpointInputSchema = z.object(
  {
    url: z
      .string({ error: 'must be a string' })
      .superRefine((url, context) => {
        const problem = endpointUrlProblem(url)
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
      })
      .meta({ minLength: 1, maxLength: URL_CHARS_MAX }),
    name: endpointName,
    call: callInputSchema,
    assertions: assertionsSchema,
  },
  { error: 'must be an endpoint object' },
)
export type EndpointInput = z.infer<typeof endpointInputSchema>

/** Contract: EndpointResponse. `blocked` is Gap G2. */
export const endpointOutputSchema = z.object({
  id: z.guid(),
  url: z.string(),
  name: z.string().nullish(),
  call: callOutputSchema,
  assertions: z.array(assertionSchema),
  blocked: z.boolean(),
})
export type EndpointOutput = z.infer<typeof endpointOutputSchema>

/**
 * Body of create and replace. Unknown fields are dropped (Gap G17). The server checks which region codes exist, which
 * regular expressions compile and what the plan allows.
 */
export const serviceRequestSchema = z.object(
  {
    name: readableText({ charsMax: NAME_CHARS_MAX, lines: 'one line' }),
    interval_secs: int32(0),
    regions: z
      .array(z.string({ error: 'must be a region code' }), { error: 'must be an array of region codes' })
      .min(1, { error: 'must name at least one region' })
      .refine((regions) => new Set(regions).size === regions.length, {
        error: 'must not name a region twice',
      }),
    endpoints: z
      .array(endpointInputSchema, { error: 'must be an array of endpoints' })
      .min(1, { error: 'must have at least one endpoint' }),
  },
  { error: 'must be a JSON object' },
)
export type ServiceRequest = z.infer<typeof serviceRequestSchema>

/** Contract: ServiceResponse. */
export const serviceResponseSchema = z.object({
  id: z.guid(),
  org_id: z.guid(),
  name: z.string(),
  interval_secs: int32(0),
  regions: z.array(z.string()),
  endpoints: z.array(endpointOutputSchema),
  created_at: z.iso.datetime({ offset: true }),
  paused_at: z.iso.datetime({ offset: true }).nullish(),
  created_by_email: z.string().nullish(),
  auto_incident_failure_threshold: int32(0).nullish(),
  auto_incident_window_minutes: int32(0).nullish(),
  auto_incident_enabled: z.boolean(),
})
export type ServiceResponse = z.infer<typeof serviceResponseSchema>
