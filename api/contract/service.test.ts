import { expect, test } from 'vitest'
import { formatPath, problemsOf } from './problem.ts'
import { serviceRequestSchema } from './service.ts'

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
])('an invalid definition is refused with the path of its first problem (%#)', (definition, message) => {
  expect(refusal(definition)).toBe(message)
})

test('a refusal never quotes the value that it refuses', () => {
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
