import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient, assertResponse } from '../apiClient.ts'
import { rawExchange } from '../rawExchange.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())
beforeAll(() => server.overrideLimits({ servicesMax: 1_000 }))

const AUTHORIZED = `Host: x\r\nAuthorization: Bearer ${server.apiKey}\r\nConnection: close\r\n`
const MIB = 1_048_576
const json = { 'content-type': 'application/json' }

/** Status of POST /v1/services with this body, byte for byte. */
async function statusOfBody(
  raw: string | Uint8Array,
  headers: Record<string, string> = json,
): Promise<number> {
  return (await api.call('POST', '/v1/services', { raw, headers })).status
}

test.each([
  ['{"statusCode":404,"error":"Not Found","message":"x"}', 'application/json; charset=utf-8'],
  ['{"error":{"text":"x"}}', 'application/json; charset=utf-8'],
  ['"x"', 'application/json; charset=utf-8'],
  ['{"error":"x"}', 'text/plain'],
])('C154 an undocumented refusal %s as %s would fail any test that gets it', (text, type) => {
  const response = { status: 404, headers: { 'content-type': type }, text, json: JSON.parse(text) as unknown }

  expect(() => assertResponse(response)).toThrow('is not one field error')
})

test('a header counts however many precede it', async () => {
  const { status } = await rawExchange(
    server.url,
    `GET /v1/org HTTP/1.1\r\n${'A: b\r\n'.repeat(1_500)}${AUTHORIZED}\r\n`,
  )

  expect(status).toBe(200)
})

describe('C155 on the bare socket', () => {
  test.each([
    ['nonsense', 'NONSENSE\r\n\r\n', 400],
    [
      'a request without Host',
      `GET /v1/org HTTP/1.1\r\nAuthorization: Bearer ${server.apiKey}\r\nConnection: close\r\n\r\n`,
      400,
    ],
    ['two Hosts', `GET /v1/org HTTP/1.1\r\nHost: y\r\n${AUTHORIZED}\r\n`, 400],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', 400],
    [
      'two lengths',
      `POST /v1/services HTTP/1.1\r\n${AUTHORIZED}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
    ],
    [
      'a length and chunks',
      `POST /v1/services HTTP/1.1\r\n${AUTHORIZED}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['17 KiB of headers', `GET /v1/org HTTP/1.1\r\n${AUTHORIZED}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    [
      'an unknown expectation',
      `POST /v1/services HTTP/1.1\r\n${AUTHORIZED}Expect: miracles\r\nContent-Length: 0\r\n\r\n`,
      417,
    ],
    [
      'C165 a bad escape without a key',
      'GET /v1/services/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      401,
    ],
    ['C165 a bad escape with a key', `GET /v1/services/%zz HTTP/1.1\r\n${AUTHORIZED}\r\n`, 404],
    ['TRACE', `TRACE /v1/org HTTP/1.1\r\n${AUTHORIZED}\r\n`, 405],
    [
      'a whole URL and no key',
      'GET http://x/v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      401,
    ],
    ['an unknown method', `PROPFIND /v1/org HTTP/1.1\r\n${AUTHORIZED}\r\n`, 405],
    ['a whole URL for a path', `GET http://x/v1/org HTTP/1.1\r\n${AUTHORIZED}\r\n`, 200],
  ])('%s gets a response in the form of the contract', async (_what, text, status) => {
    expect((await rawExchange(server.url, text)).status).toBe(status)
  })

  test('a sender that waits for 100 Continue gets it only after its key was accepted', async () => {
    const body = JSON.stringify(serviceBody())
    const head = `Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`

    const allowed = await rawExchange(server.url, `POST /v1/services HTTP/1.1\r\n${AUTHORIZED}${head}`, body)
    const refused = await rawExchange(server.url, `POST /v1/services HTTP/1.1\r\nHost: x\r\n${head}`)

    expect([allowed.status, refused.status]).toEqual([201, 401])
  })

  test('C157 chunks without a length are refused as soon as they exceed the limit', async () => {
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`

    const response = await rawExchange(
      server.url,
      `POST /v1/services HTTP/1.1\r\n${AUTHORIZED}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      ...Array.from({ length: 17 }, () => chunk),
    )

    expect([response.status, response.headers.connection]).toEqual([413, 'close'])
  })

  test.each([
    ['too large', '413', AUTHORIZED],
    ['refused because of a missing key', '401', 'Host: x\r\n'],
  ])('C157 a body %s that is far too large gets %s, and the connection is closed', async (...row) => {
    const [, status, headers] = row
    const bytes = 2 * MIB
    const head = `POST /v1/services HTTP/1.1\r\n${headers}Content-Length: ${bytes}\r\n\r\n`

    const response = await rawExchange(server.url, head, 'x'.repeat(MIB))

    expect([String(response.status), response.headers.connection]).toEqual([status, 'close'])
  })
})

test.each([
  ['PUT', '/v1/services', 'GET, HEAD, POST'],
  ['DELETE', '/v1/services', 'GET, HEAD, POST'],
  ['POST', '/v1/org', 'GET, HEAD'],
  ['GET', '/v1/services/x/pause', 'POST'],
  ['OPTIONS', '/v1/services/x', 'GET, HEAD, PATCH, DELETE'],
])('C156 %s %s is 405 and lists the allowed methods', async (method, path, allow) => {
  const { status, headers } = await api.call(method, path)

  expect([status, headers.allow]).toEqual([405, allow])
})

test('C157 a body of 1 MiB is read, and one byte more is 413', async () => {
  const padded = (bytes: number) => JSON.stringify(serviceBody()).padEnd(bytes, ' ')

  expect([await statusOfBody(padded(MIB)), await statusOfBody(padded(MIB + 1))]).toEqual([201, 413])
})

test('C157 a sender that has finished a body that is just too large may use its connection again', async () => {
  const oneConnection = new Agent({ connections: 1 })
  const options = { dispatcher: oneConnection }
  const statuses: number[] = []
  for (const bytes of [MIB + 1, 2, MIB + 60_000, 2, 2]) {
    const call = { raw: ' '.repeat(bytes), headers: json, ...options }
    statuses.push((await api.call('POST', '/v1/services', call)).status)
  }
  await oneConnection.close()

  expect(statuses).toEqual([413, 400, 413, 400, 400])
})

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/jsonp',
  'nonsense',
  'application/json; charset=iso-8859-1',
])('C158 a body of type %s is 415', async (type) => {
  expect(await statusOfBody(JSON.stringify(serviceBody()), { 'content-type': type })).toBe(415)
})

test.each(['', 'nonsense', 'application/json, text/plain'])(
  'G20 an operation without a body ignores the type %j',
  async (type) => {
    const service = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
    const headers = { 'content-type': type }
    const path = `/v1/services/${service.id}`

    const paused = await api.call('POST', `${path}/pause`, { headers })
    const deleted = await api.call('DELETE', path, { raw: '{', headers })

    expect([paused.status, deleted.status]).toEqual([200, 204])
  },
)

test('C158 a compressed body is 415', async () => {
  expect(await statusOfBody('{}', { ...json, 'content-encoding': 'gzip' })).toBe(415)
})

test.each<[string, Record<string, string>]>([
  ['no type', {}],
  ['UTF-8 named', { 'content-type': 'Application/JSON; charset="UTF-8"' }],
])('a body with %s is read as JSON', async (_what, headers) => {
  expect(await statusOfBody(JSON.stringify(serviceBody()), headers)).toBe(201)
})

test.each(['{', '', ' ', 'null', '[]', '"x"', '1', 'NaN', '{"a":1,}', '{/**/}', "{'a':1}"])(
  'C159 the body %j is 400',
  async (raw) => {
    expect(await statusOfBody(raw)).toBe(400)
  },
)

test.each([
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
  ['a lone surrogate', JSON.stringify(serviceBody()).replace('Checkout', '\\ud800')],
  ['U+0000', JSON.stringify(serviceBody()).replace('Checkout', '\\u0000')],
  ['U+0000 in a key', JSON.stringify(serviceBody()).replace('"name"', '"\\u0000":1,"name"')],
])('C160 %s is 400', async (_what, raw) => {
  expect(await statusOfBody(raw)).toBe(400)
})

test('G32 the last of two members with the same name counts', async () => {
  const raw = JSON.stringify(serviceBody()).replace('{', '{"name":"First",')

  const { status, json: service } = await api.call('POST', '/v1/services', { raw, headers: json })

  expect([status, service]).toMatchObject([201, { name: 'Checkout' }])
})

test.each(['60.0', '6e1', '0.6E+2'])('G32 the whole number %s is returned as 60', async (number) => {
  const raw = JSON.stringify(serviceBody()).replace('"interval_secs":60', `"interval_secs":${number}`)

  const response = await api.call('POST', '/v1/services', { raw, headers: json })

  expect([response.status, response.text]).toEqual([201, expect.stringContaining('"interval_secs":60,')])
})

test.each(['60.5', '1e400', '9007199254740993'])('G32 the number %s is 400', async (number) => {
  const raw = JSON.stringify(serviceBody()).replace('"interval_secs":60', `"interval_secs":${number}`)

  expect(await statusOfBody(raw)).toBe(400)
})

test('G32 a byte order mark is accepted', async () => {
  expect(await statusOfBody(`\ufeff${JSON.stringify(serviceBody())}`)).toBe(201)
})

test.each(['[', '{"a":'])('C161 ten thousand nested %s are 400', async (open) => {
  const close = open === '[' ? ']' : '}'
  const nested = `${open.repeat(10_000)}1${close.repeat(10_000)}`

  expect(await statusOfBody(`{"name":${nested}}`)).toBe(400)
})

test.each(['"__proto__":{"polluted":1}', '"constructor":{"prototype":{"polluted":1}}'])(
  'C162 the member %s is 400',
  async (member) => {
    expect(await statusOfBody(JSON.stringify(serviceBody()).replace('{', `{${member},`))).toBe(400)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  },
)

test('C163 HEAD has the head of GET and no body', async () => {
  const get = await api.get('/v1/org')

  const head = await api.call('HEAD', '/v1/org')

  expect([head.status, head.text, head.headers['content-length']]).toEqual([
    200,
    '',
    get.headers['content-length'],
  ])
})

test.each([
  '/v1/services/',
  '/v1/org/',
  '/v1',
  '/v1/',
  '/v1/services//pause',
  '/v1/services;x=1',
  '/v1/services/%00',
  '/v1/services/a%2Fpause',
])('C012 C164 GET %s is 404 with a key and 401 without', async (path) => {
  expect((await api.get(path)).status).toBe(404)
  expect((await api.get(path, { key: null })).status).toBe(401)
})

test('C166 an id of 5,000 characters is 404 with a key and 401 without', async () => {
  const path = `/v1/services/${'x'.repeat(5_000)}`

  expect((await api.get(path)).status).toBe(404)
  expect((await api.get(path, { key: null })).status).toBe(401)
})

test.each(['/', '/services', '/v2/services', '/V1/services', '//v1/services', '/healthz', '/metrics'])(
  'C171 GET %s is 404 with any key and without one',
  async (path) => {
    expect((await api.get(path)).status).toBe(404)
    expect((await api.get(path, { key: null })).status).toBe(404)
  },
)

test('another spelling of a path does not bypass the key', async () => {
  expect((await api.get('/%761/org', { key: null })).status).toBe(401)
})

test('C167 no error text contains what was submitted', async () => {
  const marker = 'mArKeR7f3a'
  const http = {
    method: marker,
    timeout: null,
    headers: { 'X-A': { value: `${marker}\u0001` } },
    body: { value: 1 },
  }
  const endpoint = {
    url: `ftp://${marker}`,
    call: { Http: http },
    assertions: [{ Body: { matcher: { Regex: `(${marker}` } } }],
  }
  const bodies = [
    { name: [marker] },
    serviceBody({ regions: [marker] }),
    { ...serviceBody(), endpoints: [endpoint] },
    {
      ...serviceBody(),
      endpoints: [
        { ...endpoint, url: 'https://example.com', call: { Http: { method: 'GET', timeout: null } } },
      ],
    },
    { ...serviceBody(), interval_secs: marker },
    { title: marker, message: marker, severity: marker, service_ids: [marker] },
  ]

  const responses = await Promise.all(
    bodies.flatMap((body) => [api.post('/v1/services', body), api.post('/v1/incidents', body)]),
  )
  responses.push(
    await api.get(`/v1/services/${marker}`),
    await api.get(`/v1/incidents?section=${marker}`),
    await api.get(`/v1/${marker}`),
    await api.call('POST', '/v1/services', { raw: `{"name":"${marker}`, headers: json }),
  )

  expect(responses.map(({ status }) => status >= 400 && status < 500)).toEqual(responses.map(() => true))
  expect(responses.filter(({ text }) => text.includes(marker))).toEqual([])
})

test('C170 responses have an id and forbid caching and content sniffing', async () => {
  const responses = [
    await api.get('/v1/org'),
    await api.get('/v1/nothing'),
    await api.get('/v1/org', { key: null }),
    await rawExchange(server.url, 'this is not HTTP\r\n\r\n'),
    await rawExchange(server.url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'),
    await rawExchange(server.url, 'GET /v1/org HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n'),
  ]

  for (const { headers } of responses) {
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect([headers['cache-control'], headers['x-content-type-options'], headers.server]).toEqual([
      'no-store',
      'nosniff',
      undefined,
    ])
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
  }
})

test('a connection that asked for a tunnel is closed, and its reset ends nothing', async () => {
  const { hostname, port } = new URL(server.url)
  const refused = async (): Promise<Socket> => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    return socket
  }
  const reset = await refused()
  reset.resetAndDestroy()
  const open = await refused()
  await once(open, 'end')

  const [error] = await new Promise<readonly unknown[]>((resolve) => {
    open.once('error', (...args) => resolve(args))
    const writing = setInterval(() => open.write('x'), 10)
    open.once('close', () => clearInterval(writing))
  })

  expect(error).toMatchObject({ code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/) })
  expect((await api.get('/v1/org')).status).toBe(200)
})
