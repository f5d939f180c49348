import { expect, test } from 'vitest'
import { formatPath, problemsOf } from './problem.ts'
import { serviceRequestSchema, serviceResponseSchema } from './service.ts'

const minimal = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

function withEndpoint(change: object) {
  return { ...minimal, endpoints: [{ ...minimal.endpoints[0], ...change }] }
}

function withHttp(change: object) {
  return withEndpoint({ call: { Http: { method: 'GET', timeout: null, ...change } } })
}

const STATUS = 'endpoints[0].assertions[0].StatusCode.expected'

function withStatus(expected: object) {
  return withEndpoint({ assertions: [{ StatusCode: { expected } }] })
}

function withLatency(expected: object, l_type = 'TotalLatency') {
  return withEndpoint({ assertions: [{ Latency: { l_type, expected } }] })
}

function withHeader(name: unknown) {
  return withEndpoint({ assertions: [{ Header: { name, matcher: { Equals: '' } } }] })
}

function refusal(value: unknown): string {
  const result = serviceRequestSchema.safeParse(value)
  if (result.success) return 'accepted'
  const [problem] = problemsOf(result.error)
  return `${formatPath(problem!.path)}: ${problem!.message}`
}

test('a minimal definition is accepted', () => {
  expect(refusal(minimal)).toBe('accepted')
})

test.each([
  [{ ...minimal, name: ' ' }, 'name: must not be empty'],
  [{ ...minimal, interval_secs: 1.5 }, 'interval_secs: must be a whole number from 0 to 2147483647'],
  [{ ...minimal, regions: ['a', 'a'] }, 'regions: must not name a region twice'],
  [{ ...minimal, endpoints: [] }, 'endpoints: must have at least one endpoint'],
  [[], ': must be a JSON object'],
  [
    withEndpoint({ url: 'ftp://example.com' }),
    'endpoints[0].url: must be an absolute http:// or https:// URL',
  ],
  [
    withEndpoint({ url: 'ht\ttp://example.com' }),
    'endpoints[0].url: must not contain blanks, control characters or backslashes',
  ],
  [
    withEndpoint({ url: 'https:///example.com/' }),
    'endpoints[0].url: must be an absolute http:// or https:// URL',
  ],
  [
    withEndpoint({ url: 'https://u:p@example.com' }),
    'endpoints[0].url: must not contain a user name or password: use a sensitive header',
  ],
  [
    withEndpoint({ call: { Http: null } }),
    'endpoints[0].call.Http: must be an object { method, timeout, … }',
  ],
  [
    withEndpoint({ call: { GRPC: {} } }),
    'endpoints[0].call.GRPC: is not supported: only Http calls are monitored',
  ],
  [withEndpoint({ call: {} }), 'endpoints[0].call: must have exactly one of the keys Http, GRPC, DNS'],
  [
    withEndpoint({ call: { Http: {}, DNS: {} } }),
    'endpoints[0].call: must have exactly one of the keys Http, GRPC, DNS',
  ],
  [withHttp({ method: 'get' }), 'endpoints[0].call.Http.method: must be one of GET, POST'],
  [withHttp({ timeout: 5 }), 'endpoints[0].call.Http.timeout: must be a duration object { secs, nanos }'],
  [
    withHttp({ timeout: { secs: 60, nanos: 1 } }),
    'endpoints[0].call.Http.timeout: must be at most 60 seconds',
  ],
  [
    withHttp({ timeout: undefined }),
    'endpoints[0].call.Http.timeout: must be a duration object { secs, nanos }',
  ],
  [
    withHttp({ headers: { 'X-A': { value: '1' }, 'x-a': { value: '2' } } }),
    'endpoints[0].call.Http.headers: has a name twice, ignoring case',
  ],
  [
    withHttp({ headers: { A: { value: 'a\r\nb' } } }),
    'endpoints[0].call.Http.headers.A.value: must be Latin-1 text without line breaks',
  ],
  [withHttp({ body: { Plain: 'x' } }), 'endpoints[0].call.Http.body.value: must be a string'],
  [
    withEndpoint({ assertions: [{ StatusCode: { expected: { Between: [5, 1] } } }] }),
    'endpoints[0].assertions[0].StatusCode.expected.Between: must not have its bounds reversed',
  ],
  [
    withEndpoint({ assertions: [{ Latency: { l_type: 'TotalLatency', expected: { GreaterThan: 1 } } }] }),
    'endpoints[0].assertions[0].Latency.expected: must have exactly one of the keys LessThan, LessOrEqual, Between',
  ],
  [
    withEndpoint({ assertions: [{ DnsResolution: { expected: {} } }] }),
    'endpoints[0].assertions[0]: must have exactly one of the keys StatusCode, Latency, DnsResoltion, Header, Body',
  ],
  [{ ...minimal, regions: 'eu-west-1' }, 'regions: must be an array of region codes'],
  [{ ...minimal, regions: [5] }, 'regions[0]: must be a region code'],
  [{ ...minimal, regions: [] }, 'regions: must name at least one region'],
  [{ ...minimal, endpoints: {} }, 'endpoints: must be an array of endpoints'],
  [{ ...minimal, endpoints: [5] }, 'endpoints[0]: must be an endpoint object'],
  [withEndpoint({ url: 5 }), 'endpoints[0].url: must be a string'],
  [withEndpoint({ name: 5 }), 'endpoints[0].name: must be a string or null'],
  [withEndpoint({ assertions: {} }), 'endpoints[0].assertions: must be an array of assertions'],
  [
    withEndpoint({ assertions: Array(51).fill({ Body: { matcher: { Equals: '' } } }) }),
    'endpoints[0].assertions: must have at most 50 assertions',
  ],
  [withHttp({ with_dns: 'x' }), 'endpoints[0].call.Http.with_dns: must be true, false or null'],
  [withHttp({ body: 'x' }), 'endpoints[0].call.Http.body: must be an object { value, sensitive }'],
  [
    withHttp({ body: { value: '', sensitive: 1 } }),
    'endpoints[0].call.Http.body.sensitive: must be true or false',
  ],
  [withHttp({ headers: [] }), 'endpoints[0].call.Http.headers: must be an object of header name to value'],
  [
    withHttp({ headers: { TE: { value: '' } } }),
    'endpoints[0].call.Http.headers: has a name that belongs to the connection and cannot be set',
  ],
  [withHttp({ timeout: { secs: 0, nanos: 0 } }), 'endpoints[0].call.Http.timeout: must be longer than zero'],
  [
    withHttp({ timeout: { secs: 1.5, nanos: 0 } }),
    'endpoints[0].call.Http.timeout.secs: must be a whole number of seconds',
  ],
  [
    withHttp({ timeout: { secs: -1, nanos: 0 } }),
    'endpoints[0].call.Http.timeout.secs: must not be negative',
  ],
  [
    withHttp({ timeout: { secs: 1, nanos: 0.5 } }),
    'endpoints[0].call.Http.timeout.nanos: must be a whole number of nanoseconds',
  ],
  [
    withHttp({ timeout: { secs: 1, nanos: -1 } }),
    'endpoints[0].call.Http.timeout.nanos: must not be negative',
  ],
  [
    withHttp({ timeout: { secs: 1, nanos: 1_000_000_000 } }),
    'endpoints[0].call.Http.timeout.nanos: must be below 1000000000',
  ],
  [withStatus({ Eq: 2_147_483_648 }), `${STATUS}.Eq: must be a 32-bit whole number`],
  [withStatus({ Eq: -2_147_483_649 }), `${STATUS}.Eq: must be a 32-bit whole number`],
  [withStatus({ Eq: '200' }), `${STATUS}.Eq: must be a 32-bit whole number`],
  [withStatus({ Between: 5 }), `${STATUS}.Between: must be an array of two integers`],
  [withStatus({ OneOf: 5 }), `${STATUS}.OneOf: must be an array of integers`],
  [withStatus({ OneOf: [] }), `${STATUS}.OneOf: must have at least one value`],
  [withStatus({ OneOf: Array(101).fill(200) }), `${STATUS}.OneOf: must have at most 100 values`],
  [
    withLatency({ Between: [{ secs: 1, nanos: 0 }] }),
    'endpoints[0].assertions[0].Latency.expected.Between: must be an array of two durations',
  ],
  [
    withLatency({
      Between: [
        { secs: 1, nanos: 1 },
        { secs: 1, nanos: 0 },
      ],
    }),
    'endpoints[0].assertions[0].Latency.expected.Between: must not have its bounds reversed',
  ],
  [
    withLatency({ LessThan: { secs: 1, nanos: 0 } }, 'Latency'),
    'endpoints[0].assertions[0].Latency.l_type: must be one of HeadersLatency, BodyLatency, TotalLatency',
  ],
  [withHeader(5), 'endpoints[0].assertions[0].Header.name: must be a string'],
  [withHeader('a b'), 'endpoints[0].assertions[0].Header.name: must be a header name'],
  [withHeader('x'.repeat(129)), 'endpoints[0].assertions[0].Header.name: must have at most 128 characters'],
  [
    withEndpoint({ assertions: [{ Body: { matcher: { Equals: 5 } } }] }),
    'endpoints[0].assertions[0].Body.matcher.Equals: must be a string',
  ],
])('an invalid definition is refused with the path of its first problem (%#)', (definition, message) => {
  expect(refusal(definition)).toBe(message)
})

test.each([
  ['StatusCode', 'expected'],
  ['Latency', 'l_type, expected'],
  ['DnsResoltion', 'expected'],
  ['Header', 'name, matcher'],
  ['Body', 'matcher'],
])('an assertion %s that is not an object is refused with the names of its fields', (kind, fields) => {
  const definition = withEndpoint({ assertions: [{ [kind]: null }] })

  expect(refusal(definition)).toBe(`endpoints[0].assertions[0].${kind}: must be an object { ${fields} }`)
})

test('a refusal never quotes the refused value', () => {
  const canary = 'canary-5d1f'

  const refusals = [
    refusal(withEndpoint({ url: canary })),
    refusal(withHttp({ method: canary })),
    refusal(withHttp({ headers: { A: { value: `${canary}\n` } } })),
    refusal({ ...minimal, name: { canary } }),
    refusal(withHttp({ headers: { [`Authorization: Bearer ${canary}`]: {} } })),
    refusal(withHttp({ headers: { [`${canary}\u0000`]: { value: 'x' } } })),
  ]

  expect(refusals.filter((text) => text.includes(canary))).toEqual([])
})

test.each([
  ['the ends of the range of status codes', withStatus({ Between: [-2_147_483_648, 2_147_483_647] })],
  ['a range of one status code', withStatus({ Between: [200, 200] })],
  ['a hundred status codes', withStatus({ OneOf: Array(100).fill(200) })],
  [
    'a range of one latency',
    withLatency({
      Between: [
        { secs: 1, nanos: 0 },
        { secs: 1, nanos: 0 },
      ],
    }),
  ],
  ['the shortest timeout', withHttp({ timeout: { secs: 0, nanos: 1 } })],
  ['the longest timeout', withHttp({ timeout: { secs: 60, nanos: 0 } })],
  ['fifty assertions', withEndpoint({ assertions: Array(50).fill({ Body: { matcher: { Equals: '' } } }) })],
  ['an endpoint with an empty name', withEndpoint({ name: '' })],
  ['an endpoint without a name', withEndpoint({ name: null })],
])('%s may be requested', (_, definition) => {
  expect(refusal(definition)).toBe('accepted')
})

test('a service is read with every field of the contract', () => {
  const ID = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'
  const Http = {
    method: 'POST',
    body: { Plain: 'ping' },
    headers: { Authorization: { Sealed: { key_id: 'k' } } },
    max_redirects_to_follow: 3,
    with_dns: true,
    timeout: { secs: 5, nanos: 0 },
  }
  const service = {
    id: ID,
    org_id: ID,
    name: 'checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        id: ID,
        url: 'https://example.com/',
        name: 'home',
        call: { Http },
        assertions: [{ DnsResoltion: { expected: { LessThan: { secs: 1, nanos: 0 } } } }],
        blocked: false,
      },
    ],
    created_at: '2026-01-01T02:00:00+02:00',
    paused_at: '2026-01-01T02:00:00+02:00',
    created_by_email: 'ada@example.com',
    auto_incident_failure_threshold: 3,
    auto_incident_window_minutes: 5,
    auto_incident_enabled: true,
  }

  expect(serviceResponseSchema.parse(service)).toEqual(service)
})

test('a request is read with every field of the contract, and without unknown fields', () => {
  const known = { url: 'https://example.com/', name: null, assertions: [] }
  const Http = {
    method: 'GET',
    timeout: null,
    with_dns: false,
    max_redirects_to_follow: 0,
    body: null,
    headers: null,
  }
  const definition = { ...minimal, endpoints: [{ ...known, call: { Http } }] }

  expect(
    serviceRequestSchema.parse({
      ...definition,
      colour: 'red',
      endpoints: [{ ...known, colour: 'red', call: { Http: { ...Http, colour: 'red' } } }],
    }),
  ).toEqual(definition)
})
