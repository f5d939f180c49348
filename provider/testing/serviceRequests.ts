import * as fc from 'fast-check'
import { LATENCY_TYPES } from '../../api/contract/assertion.ts'
import { compareDurations, type Duration } from '../../api/contract/duration.ts'
import { endpointUrlProblem } from '../../api/contract/endpointUrl.ts'
import { headerNameProblem } from '../../api/contract/requestHeaders.ts'
import {
  type EndpointInput,
  METHODS,
  type SensitiveInput,
  type SensitiveOutput,
  type ServiceRequest,
  type ServiceResponse,
  serviceRequestSchema,
} from '../../api/contract/service.ts'
import { assertionArbitrary } from '../../api/testing/assertionArbitrary.ts'
import type { ConfigOf } from '../protocol/authoring/inferred.ts'
import { type ServiceResult, toState } from '../service/read/toState.ts'
import type { serviceSchema } from '../service/schema/schema.ts'

const REGION_CODES = ['eu-west-1', 'eu-central-1', 'us-east-1', 'ap-southeast-2']

const name = fc
  .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
  .filter((candidate) => serviceRequestSchema.shape.name.safeParse(candidate).success)
const integer = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 })
const duration: fc.Arbitrary<Duration> = fc.record({
  secs: fc.nat({ max: 100_000 }),
  nanos: fc.oneof(fc.constant(0), fc.nat({ max: 999_999_999 })),
})
const timeout = fc.record({ secs: fc.nat({ max: 59 }), nanos: fc.integer({ min: 1, max: 999_999_999 }) })

const comparison = fc.oneof(
  integer.map((value) => ({ Eq: value })),
  integer.map((value) => ({ NotEq: value })),
  integer.map((value) => ({ GreaterThan: value })),
  integer.map((value) => ({ GreaterOrEqual: value })),
  integer.map((value) => ({ LessThan: value })),
  integer.map((value) => ({ LessOrEqual: value })),
  fc.tuple(integer, integer).map(([a, b]): { Between: [number, number] } => ({
    Between: a <= b ? [a, b] : [b, a],
  })),
  fc.uniqueArray(integer, { minLength: 1, maxLength: 5 }).map((values) => ({ OneOf: values })),
)

const durationComparison = fc.oneof(
  duration.map((value) => ({ LessThan: value })),
  duration.map((value) => ({ LessOrEqual: value })),
  fc.tuple(duration, duration).map(([a, b]): { Between: [Duration, Duration] } => ({
    Between: compareDurations(a, b) <= 0 ? [a, b] : [b, a],
  })),
)

/** Texts with a special meaning in some configuration language. */
const TRAPS = [
  '$\u007bTfToken[TOKEN.7]}',
  'a$$\u007bTfToken[TOKEN.0]}%\u007bif',
  '#{TfToken[TOKEN.7]}',
  '-1.8881545897087505e+289',
  '$\u007ba} %\u007bb} $$\u007bc}',
  '\ufeff\u2028\u200b\u202e',
  'it\'s \\ "here"\r\n\t',
]
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom(...TRAPS) },
)
const matcher = fc.oneof(
  text.map((value) => ({ Equals: value })),
  text.map((value) => ({ Contains: value })),
  text.map((value) => ({ StartsWith: value })),
  text.map((value) => ({ EndsWith: value })),
  fc.constantFrom('ok', '^[a-z]+$', '(?i)ready').map((value) => ({ Regex: value })),
)

/** Names of headers with a special meaning in HCL or JavaScript. */
const HEADER_TRAPS = ['for', 'null', 'true', 'in', 'if', 'constructor', '$%&#|`^', "'", '1e5']

const headerName = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'ABcdxyz09-_!~') }),
    fc.constantFrom(...HEADER_TRAPS),
  )
  .filter((candidate) => headerNameProblem(candidate) === undefined)

const assertion = assertionArbitrary({
  integer: comparison,
  duration: durationComparison,
  text: matcher,
  l_type: fc.constantFrom(...LATENCY_TYPES),
  name: headerName,
})

const sensitive: fc.Arbitrary<SensitiveInput> = fc.oneof(
  fc.record({ value: text }),
  fc.record({ value: fc.string({ minLength: 1, maxLength: 12 }), sensitive: fc.constant(true) }),
)

/** A header's value is one line of Latin-1. */
const headerValue = sensitive.filter(({ value }) => /^[\t\x20-\x7e]*$/.test(value))

const headers = fc
  .uniqueArray(fc.tuple(headerName, headerValue), { maxLength: 4, selector: ([key]) => key.toLowerCase() })
  .map((entries) => Object.fromEntries(entries))

/** Characters of a path or a query. `fc.webUrl` escapes any of Unicode, and lists a million of them first. */
const urlText = fc.string({
  maxLength: 12,
  unit: fc.constantFrom(..."aZ09-._~!$&'()*+,;=:@/", '%20', '%C3%BC', '%25'),
})

const url = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), urlText, fc.option(urlText))
  .map(([scheme, host, path, query]) => `${scheme}://${host}/${path}${query === null ? '' : `?${query}`}`)
  .filter((text) => endpointUrlProblem(text) === undefined)

const endpoint: fc.Arbitrary<EndpointInput> = fc.record({
  url,
  name: fc.option(name),
  call: fc.record({
    Http: fc.record({
      method: fc.constantFrom(...METHODS),
      timeout: fc.option(timeout),
      max_redirects_to_follow: fc.option(fc.nat({ max: 2_147_483_647 })),
      with_dns: fc.option(fc.boolean()),
      body: fc.option(sensitive),
      headers: fc.option(headers),
    }),
  }),
  assertions: fc.array(assertion, { maxLength: 5 }),
})

/** Services that both the contract and the business plan allow, with every kind of assertion and operator. */
export const serviceRequests: fc.Arbitrary<ServiceRequest> = fc.record({
  name,
  interval_secs: fc.integer({ min: 30, max: 2_147_483_647 }),
  regions: fc.uniqueArray(fc.constantFrom(...REGION_CODES), { minLength: 1 }),
  endpoints: fc.array(endpoint, { minLength: 1, maxLength: 3 }),
})

/** A service with every value that a generator of configuration must escape. */
export const trapRequest: ServiceRequest = {
  name: 'Default',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    {
      url: 'https://a.example/$%7B%25',
      call: {
        Http: {
          method: 'POST',
          timeout: null,
          body: { value: TRAPS.join(' ') },
          headers: Object.fromEntries(HEADER_TRAPS.map((trap) => [trap, { value: trap }])),
        },
      },
      assertions: [
        ...TRAPS.map((trap) => ({ Body: { matcher: { Contains: trap } } })),
        { StatusCode: { expected: { OneOf: [-1, 2_000] } } },
        { StatusCode: { expected: { GreaterOrEqual: 0 } } },
      ],
    },
    {
      url: 'https://a.example/fast',
      call: { Http: { method: 'GET', timeout: null } },
      assertions: [{ DnsResoltion: { expected: { LessThan: { secs: 1, nanos: 0 } } } }],
    },
  ],
}

/** The API's response to `request`, in which sealed values have only key ids. Pure. */
export function responseTo(request: ServiceRequest): ServiceResponse {
  const output = ({ value, sensitive: isSecret }: SensitiveInput): SensitiveOutput =>
    isSecret === true ? { Sealed: { key_id: 'k1' } } : { Plain: value }
  return {
    ...request,
    id: '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e',
    org_id: '0d5d6a1c-fc18-4b73-8d20-4d9c02c1d3a1',
    created_at: '2026-01-01T00:00:00.000Z',
    auto_incident_enabled: false,
    endpoints: request.endpoints.map(({ call: { Http }, ...rest }) => ({
      ...rest,
      id: '1e0ea0a5-0b5b-43cb-8a3c-e4b5b2ad5a0f',
      blocked: false,
      call: {
        Http: {
          ...Http,
          body: Http.body == null ? null : output(Http.body),
          headers:
            Http.headers == null
              ? null
              : Object.fromEntries(
                  Object.entries(Http.headers).map(([header, value]) => [header, output(value)]),
                ),
        },
      },
    })),
  }
}

export type ServiceConfiguration = ConfigOf<typeof serviceSchema>

/** A configuration that compiles to `request`: the state of the created service, with its secrets. Pure. */
export function configurationOf(request: ServiceRequest): ServiceConfiguration {
  const state = toState(responseTo(request), undefined)
  const endpoints = (state.endpoints ?? []).map((entry, index) => withSecrets(entry, request, index))
  const { id, org_id, created_at, created_by_email, paused_at, auto_incident, ...rest } = state
  // True because toState returns every configured attribute, and computed ones are null here.
  return {
    ...rest,
    id: null,
    org_id: null,
    created_at: null,
    created_by_email: null,
    paused: null,
    paused_at: null,
    auto_incident: null,
    endpoint_ids: null,
    endpoints_blocked: null,
    sealed_key_ids: null,
    secrets_revision: null,
    timeouts: null,
    endpoints,
  } as ServiceConfiguration
}

type EndpointResult = NonNullable<ServiceResult['endpoints']>[number]

function withSecrets(entry: EndpointResult, request: ServiceRequest, index: number): EndpointResult {
  const http = request.endpoints[index]?.call.Http
  const secretOf = (input: SensitiveInput | null | undefined): string | null =>
    input?.sensitive === true ? input.value : null
  const { body, headers: returned } = entry.http ?? {}
  const filled =
    returned instanceof Map
      ? new Map(
          [...returned].map(([key, value]) => [key, { ...value, value_wo: secretOf(http?.headers?.[key]) }]),
        )
      : null
  return {
    ...entry,
    http: {
      ...entry.http,
      body: body == null ? null : { ...body, value_wo: secretOf(http?.body) },
      headers: filled,
    },
  }
}
