import * as z from 'zod'
import {
  ASSERTION_KINDS,
  type AssertionKind,
  assertionSchema,
  comparisonSchema,
  durationComparisonSchema,
  durationSchema,
  stringMatcherSchema,
} from '../../../api/contract/assertion.ts'
import {
  incidentPageSchema,
  incidentRequestSchema,
  incidentSchema,
  incidentStatusSchema,
  incidentUpdateRequestSchema,
  incidentUpdateSchema,
  severitySchema,
} from '../../../api/contract/incident.ts'
import { orgSchema, regionSchema } from '../../../api/contract/org.ts'
import {
  callInputSchema,
  callOutputSchema,
  endpointInputSchema,
  endpointOutputSchema,
  httpCallInputSchema,
  httpCallOutputSchema,
  sensitiveInputSchema,
  sensitiveOutputSchema,
  serviceRequestSchema,
  serviceResponseSchema,
} from '../../../api/contract/service.ts'

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>

/** One component for each kind of assertion, such as `StatusCodeAssertion`. */
function assertionNouns(): Readonly<Record<`${AssertionKind}Assertion`, z.ZodType>> {
  const nouns = Object.entries(ASSERTION_KINDS).map(([kind, payload]) => [`${kind}Assertion`, payload])
  // True because there is an entry for each kind.
  return Object.fromEntries(nouns)
}

/** The components for the contract's nouns, named as in the document. */
const NOUNS = {
  Org: orgSchema,
  Region: regionSchema,
  ServiceRequest: serviceRequestSchema,
  ServiceResponse: serviceResponseSchema,
  EndpointInput: endpointInputSchema,
  EndpointResponse: endpointOutputSchema,
  MonitoringCallInput: callInputSchema,
  MonitoringCallResponse: callOutputSchema,
  HttpCallInput: httpCallInputSchema,
  HttpCallResponse: httpCallOutputSchema,
  SensitiveInput: sensitiveInputSchema,
  SensitiveResponse: sensitiveOutputSchema,
  Duration: durationSchema,
  MonitoringAssertionDef: assertionSchema,
  ...assertionNouns(),
  Comparison: comparisonSchema,
  DurationComparison: durationComparisonSchema,
  StringMatcher: stringMatcherSchema,
  Incident: incidentSchema,
  IncidentUpdate: incidentUpdateSchema,
  IncidentPage: incidentPageSchema,
  IncidentRequest: incidentRequestSchema,
  IncidentUpdateRequest: incidentUpdateRequestSchema,
  IncidentStatus: incidentStatusSchema,
  Severity: severitySchema,
  Error: z.object({ error: z.string() }),
} as const

/** Name of a schema of the document. */
export type SchemaName = keyof typeof NOUNS

/** Descriptions of nouns whose fields do not explain themselves. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  MonitoringCallInput: 'The key is the kind of call; GRPC and DNS are refused with 400.',
  HttpCallInput:
    'A timeout of null is 10 s. A check follows 10 redirects unless `max_redirects_to_follow` is given, and at most 20.',
  SensitiveInput: 'A value that is encrypted at rest and never returned when `sensitive` is true.',
  SensitiveResponse: 'A plain value, or the id of the key that seals it.',
  Duration: 'Whole seconds plus nanoseconds.',
  MonitoringAssertionDef: "The key is the kind of assertion. `DnsResoltion` is the contract's spelling.",
  StringMatcher: 'The key is the operator. `Regex` uses RE2 syntax.',
  Error: 'Every refusal has this body.',
} satisfies Partial<Record<SchemaName, string>>

/** A reference to the schema of `name`. Pure. */
export function schemaRef(name: SchemaName): Json {
  return { $ref: refTo(name) }
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}

/**
 * A schema for each noun of the contract, with references to one another, from the schemas that the server validates
 * with. Pure.
 */
export function nounSchemas(): Json {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(NOUNS)) registry.add(schema, { id })
  // The input form permits future fields, as clients must (Gap G16).
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: refTo })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, raw]) => {
      const { $schema: _dialect, $id: _id, ...schema } = raw
      const description = DESCRIPTIONS[name]
      return [name, { ...(description === undefined ? {} : { description }), ...mapping(tidy(schema)) }]
    }),
  )
}

/** `schema` in the form that common tools accept: the same values are valid. Pure. */
function tidy(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(tidy)
  if (typeof schema !== 'object' || schema === null) return schema
  const node = mapping(schema)
  // A narrowed noun has a copy of its fields beside the reference.
  if (typeof node.$ref === 'string') return { $ref: node.$ref }
  const kept = Object.entries(node).filter(([keyword, value]) => !isNoise(keyword, value, node))
  return withTags(withPair(Object.fromEntries(kept.map(([keyword, value]) => [keyword, tidy(value)]))))
}

/** Whether `keyword` is redundant: the range of exact numbers, or the pattern of a format. */
function isNoise(keyword: string, value: unknown, node: Json): boolean {
  if (keyword === 'pattern') return node.format === 'uuid' || node.format === 'date-time'
  if (keyword === 'propertyNames') return true
  return (
    (keyword === 'maximum' || keyword === 'minimum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
  )
}

/** `node` with a pair of one type as `items`, because validators without `prefixItems` would refuse valid pairs. */
function withPair(node: Json): Json {
  const { prefixItems, items: _rest, ...others } = node
  if (!Array.isArray(prefixItems)) return node
  return { ...others, items: prefixItems[0] }
}

/** `node` with a tagged object as exactly one of its forms, without forms that match nothing. */
function withTags(node: Json): Json {
  const { anyOf, ...others } = node
  if (!Array.isArray(anyOf) || !anyOf.every(isTagged)) return node
  const forms = anyOf.filter((form) => !Object.values(mapping(form.properties)).some(isImpossible))
  return forms.length === 1 ? { ...others, ...mapping(forms[0]) } : { ...others, oneOf: forms }
}

function isTagged(form: unknown): boolean {
  const { additionalProperties, required } = mapping(form)
  return additionalProperties === false && Array.isArray(required) && required.length === 1
}

function isImpossible(schema: unknown): boolean {
  return Object.hasOwn(mapping(schema), 'not')
}

function mapping(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
