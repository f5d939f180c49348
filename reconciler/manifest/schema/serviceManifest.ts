import * as z from 'zod'
import { INT32_MAX } from '../../../api/contract/assertion.ts'
import { DURATION_FORM, DURATION_PATTERN, parseDuration } from '../../../api/contract/duration.ts'
import { METHODS } from '../../../api/contract/service.ts'
import { assertionFormSchema } from './assertionForm.ts'

/** The only version of the format. */
export const API_VERSION = 'pharos/v1'
/** Kinds of documents, in the order of messages. */
export const KINDS = ['Service', 'Defaults', 'Environment'] as const
export type Kind = (typeof KINDS)[number]

const KEY = /^[a-z0-9](?:[-a-z0-9._]{0,126}[a-z0-9])?$/

/** Whether a manifest could have `text` as its `metadata.name`. Pure. */
export function isManifestName(text: string): boolean {
  return KEY.test(text)
}
/** Message about an invalid `metadata.name`. */
export const NAME_MESSAGE =
  'must be 1 to 128 lower-case letters, digits, ".", "_" or "-", a letter or digit at both ends'
const key = z.string({ error: 'must be a string' }).regex(KEY, { error: NAME_MESSAGE })

const duration = z
  .string({ error: `must be ${DURATION_FORM}` })
  .refine((text) => parseDuration(text) !== undefined, { error: `must be ${DURATION_FORM}` })
  .meta({ pattern: `^${DURATION_PATTERN}$`, patternErrorMessage: `must be ${DURATION_FORM}` })

const INTERVAL_FORM = `must be whole seconds, such as 30s or 5m, and at most ${INT32_MAX}s`
const interval = z
  .string({ error: INTERVAL_FORM })
  .refine(
    (text) => {
      const parsed = parseDuration(text)
      return parsed !== undefined && parsed.nanos === 0 && parsed.secs <= INT32_MAX
    },
    { error: INTERVAL_FORM },
  )
  .meta({ pattern: `^${DURATION_PATTERN}$`, patternErrorMessage: INTERVAL_FORM })

const environmentName = z
  .string({ error: 'must be the name of an environment variable' })
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of an environment variable' })
const secretParts = {
  prefix: z.string({ error: 'must be a string' }).optional(),
  allowEmpty: z.boolean({ error: 'must be true or false' }).optional(),
}
const VALUE_FORM = 'must be a string, { env: NAME } or { file: PATH }'

/** A text in clear, a reference to a secret or a file, or an inline value. */
export const valueFormSchema = z.union(
  [
    z.string(),
    z.strictObject({ env: environmentName, ...secretParts }),
    z.strictObject({
      file: z.string({ error: 'must be a path' }).min(1, { error: 'must be a path' }),
      ...secretParts,
    }),
    z.strictObject({
      value: z.string({ error: 'must be a string' }),
      sensitive: z.boolean({ error: 'must be true or false' }).optional(),
    }),
  ],
  { error: VALUE_FORM },
)
export type ValueForm = z.output<typeof valueFormSchema>

const endpointFields = {
  name: z.string({ error: 'must be a string' }).nullish(),
  method: z.enum(METHODS, { error: `must be one of ${METHODS.join(', ')}` }).nullish(),
  timeout: duration.nullish(),
  maxRedirects: z.int({ error: 'must be a whole number' }).nullish(),
  withDns: z.boolean({ error: 'must be true or false' }).nullish(),
  headers: z
    .record(z.string(), valueFormSchema, { error: 'must be a mapping of header names to values' })
    .nullish(),
  body: valueFormSchema.nullish(),
  assertions: z.array(assertionFormSchema, { error: 'must be a list of assertions' }).nullish(),
}

const endpoint = z.strictObject(
  { url: z.string({ error: 'must be a string' }), ...endpointFields },
  { error: 'must be a mapping with at least a url' },
)

const regions = z.array(z.string({ error: 'must be a region code' }), {
  error: 'must be a list of region codes',
})
const paused = z.boolean({ error: 'must be true or false' })

const POINTER_FORM = 'must be a JSON pointer below /spec, such as /spec/regions'

/** Messages about drift policies of earlier versions. */
const FORMER_DRIFT: ReadonlyMap<unknown, string> = new Map([
  ['merge', 'can no longer be merge: use heal or report, and list fields that others set in policy.ignore'],
  [
    'refuse',
    'can no longer be refuse: use report, and apply the reviewed plan with "pharos apply --plan DIGEST"',
  ],
])

const policy = z.strictObject(
  {
    onDelete: z
      .enum(['delete', 'pause', 'detach'], { error: 'must be one of delete, pause, detach' })
      .optional(),
    pruneAfter: duration.optional(),
    protect: z.boolean({ error: 'must be true or false' }).optional(),
    drift: z
      .enum(['heal', 'report', 'ignore'], {
        error: ({ input }) => FORMER_DRIFT.get(input) ?? 'must be one of heal, report, ignore',
      })
      .optional(),
    ignore: z
      .array(
        z.string({ error: POINTER_FORM }).regex(/^(\/spec)(\/([^~/]|~[01])+)+$/, { error: POINTER_FORM }),
        {
          error: 'must be a list of JSON pointers',
        },
      )
      .optional(),
  },
  { error: 'must be a mapping' },
)

const labels = z.record(z.string(), z.string({ error: 'must be a string' }), {
  error: 'must be a mapping of names to strings',
})

const envelope = { apiVersion: z.literal(API_VERSION, { error: `must be ${API_VERSION}` }) }

const serviceFields = {
  ...envelope,
  kind: z.literal('Service'),
  metadata: z.strictObject(
    {
      name: key,
      labels: labels.optional(),
      id: z.guid({ error: 'must be the UUID of a service' }).optional(),
      previousNames: z.array(key, { error: 'must be a list of names' }).optional(),
    },
    { error: 'must be a mapping with at least a name' },
  ),
  policy: policy.optional(),
}

const specFields = {
  name: z.string({ error: 'must be a string' }).optional(),
  interval,
  regions,
  paused: paused.nullish(),
  endpoints: z.array(endpoint, { error: 'must be a list of endpoints' }),
}
const NOT_A_MAPPING = { error: 'must be a mapping' }

/** A complete Service document, merged with its Defaults. */
export const serviceManifestSchema = z.strictObject({
  ...serviceFields,
  spec: z.strictObject(specFields, NOT_A_MAPPING),
})
/** A Service document as written: Defaults may provide missing fields. */
export const serviceDocumentSchema = z.strictObject({
  ...serviceFields,
  spec: z.strictObject(
    { ...specFields, interval: interval.optional(), regions: regions.optional() },
    NOT_A_MAPPING,
  ),
})
export type ServiceManifest = z.output<typeof serviceManifestSchema>

/** A Defaults document: parts of a spec and a policy for all services of its folder and the folders below. */
export const defaultsManifestSchema = z.strictObject({
  ...envelope,
  kind: z.literal('Defaults'),
  spec: z
    .strictObject(
      {
        interval: interval.optional(),
        regions: regions.optional(),
        paused: paused.nullish(),
        endpointsDefaults: z.strictObject(endpointFields, { error: 'must be a mapping' }).optional(),
      },
      { error: 'must be a mapping' },
    )
    .optional(),
  policy: policy.optional(),
})

const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: 'must be a string, a number, true or false',
})
const anyMapping = z.record(z.string(), z.unknown(), { error: 'must be a mapping' })

/** An Environment document: variables and patches that --env applies. */
export const environmentManifestSchema = z.strictObject({
  ...envelope,
  kind: z.literal('Environment'),
  metadata: z.strictObject({ name: key }, { error: 'must be a mapping with a name' }),
  spec: z
    .strictObject(
      {
        vars: z
          .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), scalar, {
            error: ({ code }) =>
              code === 'invalid_key'
                ? 'must have a name of letters, digits and "_" that starts with no digit'
                : 'must be a mapping of names to values',
          })
          .optional(),
        patches: z
          .array(
            z.strictObject({
              target: z.strictObject(
                { name: key.optional(), labels: labels.optional() },
                { error: 'must be a mapping with name or labels' },
              ),
              patch: z.strictObject(
                { spec: anyMapping.optional(), policy: anyMapping.optional() },
                { error: 'must be a mapping with spec or policy' },
              ),
            }),
            { error: 'must be a list' },
          )
          .optional(),
      },
      { error: 'must be a mapping' },
    )
    .optional(),
})
export type EnvironmentManifest = z.output<typeof environmentManifestSchema>
