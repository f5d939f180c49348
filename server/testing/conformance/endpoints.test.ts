import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Assertion } from '../../../api/contract/assertion.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())
beforeAll(() => server.overrideLimits({ servicesMax: 10_000, endpointsMax: 100_000 }))

/** Creates a service with one endpoint, which need not be valid. */
async function createWith(endpoint: unknown) {
  const { status, json, text } = await api.post('/v1/services', { ...serviceBody(), endpoints: [endpoint] })
  return {
    status,
    text,
    endpoint: status === 201 ? serviceResponseSchema.parse(json).endpoints[0] : undefined,
  }
}

const withUrl = (url: unknown) => createWith({ ...endpointBody(), url })
const withCall = (call: unknown) => createWith({ ...endpointBody(), call })
const withHttp = (changes: Record<string, unknown>) =>
  withCall({ Http: { method: 'GET', timeout: null, ...changes } })
const withAssertions = (assertions: unknown) => createWith({ ...endpointBody(), assertions })

describe('url', () => {
  test.each([
    ...[
      undefined,
      '',
      'example.com',
      '/path',
      'ftp://example.com',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ].map((url) => ['C066', url]),
    ...['https://user@example.com', 'https://user:pass@example.com', 'https://:@example.com'].map((url) => [
      'C067',
      url,
    ]),
    ...[
      'ht\ttp://example.com',
      '  https://example.com',
      'https://example.com\\@127.0.0.1',
      'https://example.com:0',
      'https://example.com:99999',
      `https://example.com/${'x'.repeat(2_048)}`,
    ].map((url) => ['C068', url]),
  ])('%s %j gets 400', async (_id, url) => {
    expect((await withUrl(url)).status).toBe(400)
  })

  test.each(['https://münchen.de/', 'http://example.com', 'HTTPS://Example.COM/%7Efoo?a=1#b'])(
    'C069 %s is returned as it was sent',
    async (url) => {
      expect(await withUrl(url)).toMatchObject({ status: 201, endpoint: { url } })
    },
  )

  test.each([
    ['https://example.com/', false],
    ['http://169.254.169.254/', true],
    ['http://2130706433/', true],
    ['http://0x7f.1/', true],
    ['http://[::ffff:7f00:1]/', true],
    ['http://[::1]:8080/', true],
    ['http://localhost./', true],
    ['http://IP6-localhost:8080/', true],
    ['http://ip6-loopback./', true],
    ['http://localhost.localdomain/', true],
    ['http://localhost6/', true],
    ['http://%6c%6f%63alhost/', true],
    ['http://8.8.8.8/', false],
  ])('C097 an endpoint at %s is stored with blocked %j', async (url, blocked) => {
    expect((await withUrl(url)).endpoint?.blocked).toBe(blocked)
  })
})

test.each([
  ['absent', undefined, null],
  ['null', null, null],
  ['a text', 'Front', 'Front'],
])('C070 a name that is %s is accepted', async (_how, name, expected) => {
  expect((await createWith({ ...endpointBody(), name })).endpoint?.name).toBe(expected)
})

describe('call', () => {
  test.each([
    ['C071 a missing call', undefined],
    ['C071 an empty call', {}],
    ['C071 a call with two keys', { Http: { method: 'GET', timeout: null }, DNS: {} }],
    ['C071 a call with an unknown key', { Tcp: {} }],
    ['C072 a GRPC call', { GRPC: {} }],
    ['C072 a DNS call', { DNS: {} }],
  ])('%s gets 400', async (_name, call) => {
    expect((await withCall(call)).status).toBe(400)
  })

  test('C072 a service with a GRPC call and a valid endpoint is refused as a whole', async () => {
    const before = await server.store.listServices(server.orgId)

    const { status, text } = await api.post('/v1/services', {
      ...serviceBody(),
      endpoints: [endpointBody(), { ...endpointBody(), call: { GRPC: {} } }],
    })

    expect([status, text]).toEqual([
      400,
      '{"error":"endpoints[1].call.GRPC: is not supported: only Http calls are monitored"}',
    ])
    expect(await server.store.listServices(server.orgId)).toEqual(before)
  })

  test.each(['PUT', 'HEAD', 'get', '', null])('C073 the method %j gets 400', async (method) => {
    expect((await withHttp({ method })).status).toBe(400)
  })

  test('C074 the key timeout is required, and null is returned as null', async () => {
    const absent = await withCall({ Http: { method: 'GET' } })
    const asNull = await withHttp({ timeout: null })

    expect([absent.status, asNull.endpoint?.call.Http.timeout]).toEqual([400, null])
  })

  test.each([
    [5, 400],
    [{ secs: 5 }, 400],
    [{ secs: 5, nanos: 0 }, 201],
    [{ secs: 5, nanos: 1_000_000_000 }, 400],
    [{ secs: -1, nanos: 0 }, 400],
    [{ secs: 0, nanos: 0 }, 400],
    [{ secs: 60, nanos: 0 }, 201],
    [{ secs: 60, nanos: 1 }, 400],
  ])('C075 the timeout %j gets %i', async (timeout, status) => {
    expect((await withHttp({ timeout })).status).toBe(status)
  })

  test.each([null, 0, 2_147_483_647])('C076 max_redirects_to_follow %j is returned', async (max) => {
    expect(
      (await withHttp({ max_redirects_to_follow: max })).endpoint?.call.Http.max_redirects_to_follow,
    ).toBe(max)
  })

  test.each([-1, 2_147_483_648, 1.2])('C076 max_redirects_to_follow %j gets 400', async (max) => {
    expect((await withHttp({ max_redirects_to_follow: max })).status).toBe(400)
  })

  test.each([
    [null, 201],
    [true, 201],
    [false, 201],
    ['yes', 400],
  ])('C077 with_dns %j gets %i', async (with_dns, status) => {
    expect((await withHttp({ with_dns })).status).toBe(status)
  })

  test.each([
    ['X-A and x-a', { 'X-A': { value: '1' }, 'x-a': { value: '2' } }, 400],
    ['a blank', { 'X A': { value: '1' } }, 400],
    ['no ASCII', { Ä: { value: '1' } }, 400],
    ['nothing', { '': { value: '1' } }, 400],
    ['a line break in its value', { 'X-A': { value: 'a\r\nb: c' } }, 400],
    ['a carriage return in its value', { 'X-A': { value: 'a\rb' } }, 400],
    ['a line feed in its value', { 'X-A': { value: 'a\nb' } }, 400],
    ['U+0000 in its value', { 'X-A': { value: 'a\0b' } }, 400],
    ['Content-Length', { 'Content-Length': { value: '1' } }, 400],
    ['transfer-encoding', { 'transfer-encoding': { value: 'chunked' } }, 400],
    ['Connection', { Connection: { value: 'close' } }, 400],
    ['Host', { Host: { value: 'other.example' } }, 201],
  ])('C085 a header named %s is accepted or refused by its name', async (_name, headers, status) => {
    expect((await withHttp({ headers })).status).toBe(status)
  })
})

describe('sensitive values', () => {
  test('C078 a body and a header that are not sensitive are returned in clear text', async () => {
    const { endpoint } = await withHttp({
      method: 'POST',
      body: { value: 'ping' },
      headers: { 'X-A': { value: 'one', sensitive: false } },
    })

    expect([endpoint?.call.Http.body, endpoint?.call.Http.headers]).toEqual([
      { Plain: 'ping' },
      { 'X-A': { Plain: 'one' } },
    ])
  })

  test('C079 C083 sensitive values are returned only as key ids, distinct even for equal values', async () => {
    const secret = { value: 'correct-horse', sensitive: true }

    const { endpoint, text } = await withHttp({ method: 'POST', body: secret, headers: { 'X-A': secret } })

    const { body, headers } = endpoint?.call.Http ?? {}
    const ids = [body, headers?.['X-A']].map((shown) =>
      shown && 'Sealed' in shown ? shown.Sealed.key_id : '',
    )
    expect(ids.map((id) => /^[0-9a-f-]{36}$/.test(id))).toEqual([true, true])
    expect(new Set(ids).size).toBe(2)
    const forms = (['utf8', 'base64', 'hex'] as const).map((form) => Buffer.from(secret.value).toString(form))
    expect(forms.filter((form) => text.includes(form))).toEqual([])
  })

  test.each([
    ['C080 without a value', {}],
    ['C080 with a number for a value', { value: 1 }],
    ['C080 with a word for sensitive', { value: 'x', sensitive: 'yes' }],
    ['C081 in the form of a response', { Plain: 'x' }],
    ['C081 sealed already', { Sealed: { key_id: 'x' } }],
  ])('%s gets 400', async (_name, body) => {
    expect((await withHttp({ method: 'POST', body })).status).toBe(400)
  })
})

const second = { secs: 1, nanos: 500_000_000 }
const matchers = ['Equals', 'Contains', 'StartsWith', 'EndsWith', 'Regex'].map((kind) => ({ [kind]: 'a+b' }))
const durations = [{ LessThan: second }, { LessOrEqual: second }, { Between: [second, second] }]
const valid = [
  ...['Eq', 'NotEq', 'GreaterThan', 'GreaterOrEqual', 'LessThan', 'LessOrEqual'].map((kind) => ({
    [kind]: 200,
  })),
  { Between: [200, 299] },
  { OneOf: [200, 204] },
]

describe('assertions', () => {
  test.each([
    ...valid.map((expected) => ({ StatusCode: { expected } })),
    ...['HeadersLatency', 'BodyLatency', 'TotalLatency'].flatMap((l_type) =>
      durations.map((expected) => ({ Latency: { l_type, expected } })),
    ),
    ...durations.map((expected) => ({ DnsResoltion: { expected } })),
    ...matchers.map((matcher) => ({ Header: { name: 'Content-Type', matcher } })),
    ...matchers.map((matcher) => ({ Body: { matcher } })),
  ])('C086 C087 %j is returned unchanged', async (assertion) => {
    expect((await withAssertions([assertion])).endpoint?.assertions).toEqual([assertion as Assertion])
  })

  test.each([
    ['C087', [{ DnsResolution: { expected: { LessThan: second } } }]],
    ['C088', [{}]],
    ['C088', [{ Body: { matcher: { Equals: 'a' } }, StatusCode: { expected: { Eq: 1 } } }]],
    ['C089', [{ StatusCode: { expected: { Between: [1] } } }]],
    ['C089', [{ StatusCode: { expected: { Between: [1, 2, 3] } } }]],
    ['C089', [{ StatusCode: { expected: { OneOf: ['1'] } } }]],
    ['C090', [{ StatusCode: { expected: { Between: [5, 1] } } }]],
    ['C090', [{ StatusCode: { expected: { OneOf: [] } } }]],
    ['C091', [{ Latency: { l_type: 'TotalLatency', expected: { GreaterThan: second } } }]],
    ['C091', [{ Latency: { l_type: 'TotalLatency', expected: { Eq: second } } }]],
    ['C091', [{ Latency: { l_type: 'Other', expected: { LessThan: second } } }]],
    ['C091', [{ Latency: { l_type: 'TotalLatency', expected: { LessThan: 5 } } }]],
    ['C092', [{ Body: { matcher: { Equals: 1 } } }]],
    ['C093', [{ Body: { matcher: { Regex: '(' } } }]],
    ['C093', [{ Body: { matcher: { Regex: '(?=a)' } } }]],
    ['C093', [{ Header: { name: 'x', matcher: { Regex: '(a)\\1' } } }]],
    ['C093', [{ Body: { matcher: { Regex: 'a{1001}' } } }]],
    ['C094', undefined],
  ])('%s %j gets 400', async (_id, assertions) => {
    expect((await withAssertions(assertions)).status).toBe(400)
  })

  test('C094 an endpoint without assertions gets 201', async () => {
    expect((await withAssertions([])).status).toBe(201)
  })
})
