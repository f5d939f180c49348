import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createCertificate } from '../../provider/protocol/plugin/certificate.ts'
import type { ServiceRequest } from '../contract/service.ts'
import { Client, clientProblem } from './client.ts'
import { Limiter, type Timing } from './limiter.ts'
import type { RetryReport } from './request.ts'

const apiKey = `pharos_${'a1'.repeat(32)}`
const serviceId = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'
const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}
const service = {
  id: serviceId,
  org_id: '0d5d6a1c-fc18-4b73-8d20-4d9c02c1d3a1',
  ...request,
  endpoints: [{ ...request.endpoints[0], id: '1e0ea0a5-0b5b-43cb-8a3c-e4b5b2ad5a0f', blocked: false }],
  created_at: '2026-01-01T00:00:00.000Z',
  auto_incident_enabled: false,
}

/** Current time for the clients of these tests. */
const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

type Script = (request: IncomingMessage, response: ServerResponse, attempt: number) => void

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** The port at which `server` listens until the test has ended. */
async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  // True because the server listens on TCP.
  return (server.address() as AddressInfo).port
}

/** A server that misbehaves as requested, and a client of it whose clock runs ahead instead of waiting. */
async function misbehaving(script: Script, path = '') {
  const seen: string[] = []
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    incoming.resume().on('end', () => script(incoming, response, seen.length))
  })
  const port = await listening(server)
  const retries: RetryReport[] = []
  const url = `http://127.0.0.1:${port}${path}`
  const client = clientOf(url, (report) => retries.push(report))
  return { client, seen, retries, url }
}

function clientOf(url: string, onRetry?: (report: RetryReport) => void): Client {
  let skippedMs = 0
  const timing: Timing = {
    nowMs: () => skippedMs,
    random: () => 0,
    after: (delayMs, run) => {
      const immediate = setImmediate(() => {
        skippedMs += delayMs
        run()
      })
      return () => clearImmediate(immediate)
    },
  }
  const client = new Client({
    url,
    apiKey,
    userAgent: 'test',
    timing,
    limiter: new Limiter(undefined, timing),
    dateMs: () => NOW_MS,
    ...(onRetry === undefined ? {} : { onRetry }),
  })
  closing.push(() => client.close())
  return client
}

function respond(response: ServerResponse, status: number, body?: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

test('a client retries after a 429, even a creation, because the request was not executed', async () => {
  const { client, seen } = await misbehaving((_request, response, attempt) =>
    attempt <= 8 ? respond(response, 429, { error: 'rate limit exceeded' }) : respond(response, 201, service),
  )

  const created = await client.createService(request, 'key-1')

  expect(created.id).toBe(serviceId)
  expect(seen.length).toBe(9)
})

test('a response that trickles without end is aborted', async () => {
  const server = createServer((_request, response) => {
    const trickle = (): void => {
      if (response.destroyed) return
      response.write(' ')
      setImmediate(trickle)
    }
    trickle()
  })
  let ms = 0
  const timing: Timing = {
    // Each read of the clock advances it by a second.
    nowMs: () => {
      ms += 1_000
      return ms
    },
    random: () => 0,
    after: (_delayMs, run) => {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    },
  }
  const url = `http://127.0.0.1:${await listening(server)}`
  const client = new Client({
    url,
    apiKey,
    userAgent: 'test',
    timing,
    limiter: new Limiter(undefined, timing),
  })
  closing.push(() => client.close())

  await expect(client.listServices()).rejects.toThrow('the response was not complete after 120 s')
})

test.each([500, 502, 503, 504])('a read is repeated after a %i', async (status) => {
  const { client, seen } = await misbehaving((_request, response, attempt) =>
    attempt < 3 ? respond(response, status, { error: 'internal error' }) : respond(response, 200, [service]),
  )

  const { services } = await client.listServices()

  expect(services.map(({ id }) => id)).toEqual([serviceId])
  expect(seen.length).toBe(3)
})

test('a replace whose connection is cut is retried until it gets a response', async () => {
  const { client, seen } = await misbehaving((incoming, response, attempt) => {
    if (attempt < 3) incoming.socket.destroy()
    else respond(response, 200, service)
  })

  await client.replaceService(serviceId, request)

  expect(seen.length).toBe(3)
})

test.each([
  ['a cut connection', (incoming: IncomingMessage) => incoming.socket.destroy()],
  [
    'a 502',
    (_incoming: IncomingMessage, response: ServerResponse) =>
      respond(response, 502, { error: 'bad gateway' }),
  ],
] as const)('a creation is sent once when its outcome is unknown after %s', async (_what, script) => {
  const { client, seen } = await misbehaving(script)

  await expect(client.createService(request, 'key-1')).rejects.toThrow()

  expect(seen).toEqual(['POST /v1/services'])
})

test('the error for an unreachable server says so, and that nothing was sent', async () => {
  const unreachable = clientOf('http://127.0.0.1:1')

  await expect(unreachable.createService(request, 'key-1')).rejects.toMatchObject({
    name: 'ConnectionError',
    outcome: 'not-sent',
    message: 'no response from http://127.0.0.1:1 (ECONNREFUSED)',
  })
})

test.each([400, 401, 403, 404])("a %i is returned at once with the server's text", async (status) => {
  const { client, seen } = await misbehaving((_request, response) =>
    respond(response, status, { error: 'because' }),
  )

  await expect(client.getService(serviceId)).rejects.toMatchObject({
    name: 'ApiError',
    status,
    message: 'because',
  })

  expect(seen.length).toBe(1)
})

test('a response from a proxy is reported by its status, and no part of it is quoted', async () => {
  const { client } = await misbehaving((_request, response) =>
    response.writeHead(403).end('<h1>blocked</h1>'),
  )

  await expect(client.getOrg()).rejects.toThrow('the server responded with 403 without saying why')
})

test.each([
  ['a response from a proxy', '', 404, '<h1>Not Found</h1>', {}],
  ['an unknown API version', '/v2', 404, '{"error":"not found"}', {}],
  ['a redirect', '', 308, '', { location: 'https://pharos.example.com/v1/org?ticket=secret' }],
] as const)(
  'an address without the API is reported as one, not as a deleted service: %s',
  async (_what, path, status, body, headers) => {
    const { client, url } = await misbehaving(
      (_request, response) => response.writeHead(status, headers).end(body),
      path,
    )

    const found = await client.getOrg().catch((error: Error) => error)

    expect(found).toMatchObject({
      name: 'UnreadableResponse',
      message: expect.stringContaining(`${url} does not look like the API: GET /v1/org got status ${status}`),
    })
    if (status === 308)
      expect(found).toMatchObject({
        message: expect.stringMatching(/redirect to https:\/\/pharos\.example\.com\/v1\/org, /),
      })
  },
)

test('a 404 that does not come from the API never counts as a deleted service', async () => {
  const { client } = await misbehaving((_request, response) => response.writeHead(404).end('<h1>gone</h1>'))

  await expect(client.deleteService(serviceId)).rejects.toMatchObject({ name: 'UnreadableResponse' })
})

test('a page that a gateway sends instead of the response to a deletion never counts as a deleted service', async () => {
  const { client } = await misbehaving((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>Sign in</h1>'),
  )

  await expect(client.deleteService(serviceId)).rejects.toMatchObject({
    name: 'UnreadableResponse',
    message: 'the server responded with 200 and text/html instead of 204',
  })
})

const inSecs = (secs: number): string => new Date(NOW_MS + secs * 1_000).toUTCString()
test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a date, relative to the Date header', { 'retry-after': inSecs(3_609), date: inSecs(3_600) }, 9_000],
  ['a date, relative to the local clock', { 'retry-after': inSecs(11) }, 11_000],
  ['more than a minute', { 'retry-after': '86400' }, 60_000],
  ['a date in the past', { 'retry-after': inSecs(-5) }, 250],
  ['an unreadable value', { 'retry-after': 'soon' }, 250],
] as const)('a 429 is waited out for as long as it says: %s', async (_what, headers, waitMs) => {
  const { client, retries } = await misbehaving((_request, response, attempt) => {
    response.sendDate = false
    if (attempt === 1) response.writeHead(429, headers).end('{"error":"rate limit exceeded"}')
    else respond(response, 200, [service])
  })

  await client.listServices()

  expect(retries.map(({ delayMs }) => Math.round(delayMs))).toEqual([waitMs])
})

test('a waiting caller is told at once why it waits, and for how long', async () => {
  const retries: RetryReport[] = []
  const unreachable = clientOf('http://127.0.0.1:1', (report) => retries.push(report))

  await expect(unreachable.getOrg()).rejects.toThrow('ECONNREFUSED')

  const reason = 'no response from http://127.0.0.1:1 (ECONNREFUSED)'
  expect(retries).toEqual([400, 800, 1_600, 3_200].map((delayMs) => ({ reason, delayMs })))
})

test('an untrusted certificate and a server without TLS are final, and nothing was sent', async () => {
  const certificate = createCertificate(Date.now())
  const secure = createTlsServer({ key: certificate.privateKeyPem, cert: certificate.certificatePem })
  const ports = [await listening(secure), await listening(createServer())]

  for (const [index, hint] of ['PHAROS_CA_FILE', 'http:// instead of https://'].entries()) {
    const retries: RetryReport[] = []
    const client = clientOf(`https://127.0.0.1:${ports[index]}`, (report) => retries.push(report))
    await expect(client.createService(request, 'key-1')).rejects.toMatchObject({
      name: 'ConnectionError',
      outcome: 'not-sent',
      hint: expect.stringContaining(hint),
    })
    expect(retries).toEqual([])
  }
})

test('one listed service that cannot be read does not hide the others', async () => {
  const newer = { ...service, id: 'newer', endpoints: [{ call: { Ping: {} } }] }
  const untitled = [null, undefined].map((name) => ({ ...service, id: service.org_id, name }))
  const { client } = await misbehaving((_request, response) =>
    respond(response, 200, [newer, service, ...untitled]),
  )

  const list = await client.listServices()

  expect(list.services.map(({ id }) => id)).toEqual([serviceId])
  expect(list.unreadable).toEqual([
    { id: 'newer', problem: 'id must be a UUID' },
    { id: service.org_id, problem: 'name must be a string, not null' },
    { id: service.org_id, problem: 'name is missing: it must be a string' },
  ])
})

test('a list with an unchanged body returns the same value, and one with another body is decoded', async () => {
  const bodies = [[service], [service], [{ ...service, name: 'Another' }]]
  const { client } = await misbehaving((_request, response) => respond(response, 200, bodies.shift()))

  const [first, same, other] = [
    await client.listServices(),
    await client.listServices(),
    await client.listServices(),
  ]

  expect(same).toBe(first)
  expect(other?.services.map(({ name }) => name)).toEqual(['Another'])
})

test('an aborted call rejects with the reason of its signal before the response arrives', async () => {
  const stop = new AbortController()
  const { client } = await misbehaving(() => stop.abort(new Error('stopped by the user')))

  await expect(client.getOrg({ signal: stop.signal })).rejects.toThrow('stopped by the user')
})

test.each<readonly [string, string, string]>([
  ['ftp://example.com', apiKey, 'the API URL must be an absolute http:// or https:// URL'],
  ['https://user:secret@example.com', apiKey, 'the API URL must not contain credentials'],
  ...[
    'pharos_short',
    `pharos-${'a1'.repeat(32)}`,
    `two words_${'a1'.repeat(32)}`,
    `é_${'a1'.repeat(32)}`,
  ].map(
    (key) =>
      [
        'https://example.com',
        key,
        'the API key must be a prefix such as pharos_, followed by 64 hexadecimal characters',
      ] as const,
  ),
])('an unusable address or key is refused before any request (%#)', (url, key, problem) => {
  expect(clientProblem(url, key)).toBe(problem)
})

test.each(['pharos_', 'acme-live_', 'a_b_', '_'])(
  'a key may start with %s, and no refusal repeats it',
  async (prefix) => {
    const foreign = `${prefix}${'a1'.repeat(32)}`
    const { client } = await misbehaving((_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: `the key ${foreign} is for reading` }))
    })

    expect(clientProblem('https://example.com', foreign)).toBeUndefined()
    await expect(client.getOrg()).rejects.toThrow(/^the key … is for reading$/)
  },
)

test('a request that waits for a connection is not sent once its send permission has ended', async () => {
  const held: ServerResponse[] = []
  let all = (): void => {}
  const areHeld = new Promise<void>((resolve) => {
    all = resolve
  })
  // As many as there are connections: further requests wait inside the client.
  const connections = 16
  const { client, seen } = await misbehaving((_request, response) => {
    held.push(response)
    if (held.length === connections) all()
  })
  const before = Array.from({ length: connections }, (_, index) =>
    client.createService(request, `key-${index}`),
  )
  await areHeld
  let mayLeave = true
  const lost = new Error('the lease is lost')
  const handedOver = new Promise<void>((resolve) => {
    const waiting = client.createService(request, 'key-late', {
      beforeSend: async () => resolve(),
      assertMaySend: () => {
        if (!mayLeave) throw lost
      },
    })
    // Settled below; until then nothing else handles it.
    before.push(waiting)
    waiting.catch(() => {})
  })
  await handedOver

  mayLeave = false
  for (const response of held) respond(response, 201, service)

  await expect(before.at(-1)).rejects.toBe(lost)
  await Promise.all(before.slice(0, -1))
  expect(seen.length).toBe(connections)
})
