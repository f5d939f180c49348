import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { Assertion } from '../../api/contract/assertion.ts'
import {
  type CheckedServer,
  checkOf,
  type EndpointSettings,
  startByteServer,
  startHttpServer,
  startRawServer,
} from './testing/checkedServer.ts'
import { type NameTable, startDnsServer } from './testing/dnsServer.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function opened<Server extends { readonly close: () => Promise<void> }>(
  starting: Promise<Server>,
): Promise<Server> {
  const server = await starting
  closers.push(server.close)
  return server
}

const urlOf = ({ port }: Pick<CheckedServer, 'port'>, path = '/'): string => `http://127.0.0.1:${port}${path}`
const SHORT = { secs: 0, nanos: 200_000_000 }
const BODY_IS_OK: readonly Assertion[] = [{ Body: { matcher: { Equals: 'ok' } } }]

test('an endpoint that responds and meets its assertions is up, and its phases add up to no more than the total', async () => {
  const server = await opened(startHttpServer((_request, response) => response.end('ok')))

  const result = await checkOf({
    url: urlOf(server),
    assertions: [{ StatusCode: { expected: { Eq: 200 } } }, ...BODY_IS_OK],
  })

  const { phases, ...rest } = result
  expect(rest).toMatchObject({ outcome: 'up', reason: 'none', text: null, status: 200, attempts: 1 })
  expect(rest.verdicts.map(({ text }) => text)).toEqual([
    'status 200 (expected 200)',
    'body (2 bytes) is "ok"',
  ])
  const { total, ...parts } = phases
  expect(Object.values(parts).reduce((sum, us) => sum + us, 0)).toBeLessThanOrEqual(total)
  expect(phases).toMatchObject({ dns: 0, tls: 0 })
})

test('GET and POST are sent with their headers and bodies, and close their connection', async () => {
  const seen: string[] = []
  const server = await opened(
    startRawServer((socket) => {
      let text = ''
      socket.on('data', (bytes) => {
        text += bytes.toString('utf8')
        if (!text.endsWith('{"é":1}')) return
        seen.push(text)
        socket.end('HTTP/1.1 200 OK\r\n\r\n')
      })
    }),
  )
  const http = {
    headers: { 'X-Token': { value: 'a', sensitive: true }, 'user-agent': { value: 'mine' } },
    body: { value: '{"é":1}' },
  }

  await checkOf({ url: urlOf(server, '/path?a=b#c'), http: { ...http, method: 'POST' } })
  await checkOf({ url: urlOf(server), http })

  const rest = `Host: 127.0.0.1:${server.port}\r\nAccept: */*\r\nAccept-Encoding: identity\r\nX-Token: a\r\nuser-agent: mine\r\nContent-Length: 8\r\nConnection: close\r\n\r\n{"é":1}`
  expect(seen).toEqual([`POST /path?a=b HTTP/1.1\r\n${rest}`, `GET / HTTP/1.1\r\n${rest}`])
})

test.each<[string, string, Partial<EndpointSettings>, string, string]>([
  ['an error', 'HTTP/1.1 503 No\r\n\r\n', {}, 'assertion_status', 'status 503, expected < 400'],
  ['nothing', '', {}, 'closed_early', 'the server closed the connection before the response was complete'],
  [
    'half a body',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok',
    {},
    'closed_early',
    'the server closed the connection before the response was complete',
  ],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', {}, 'not_http', 'the response is not valid HTTP/1.1'],
  [
    'long headers',
    `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`,
    {},
    'headers_too_large',
    'the headers of the response have more than 64 KiB',
  ],
  [
    'a long body',
    `HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(1_200_000)}`,
    { assertions: BODY_IS_OK },
    'body_too_large',
    'the body has more than 1,048,576 bytes',
  ],
  [
    'a broken coding',
    'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nno',
    { assertions: BODY_IS_OK },
    'body_encoding',
    'the body is not gzip',
  ],
  [
    'an unknown coding',
    'HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\nno',
    { assertions: BODY_IS_OK },
    'body_encoding',
    'the body has an unknown content coding',
  ],
  [
    'another body',
    'HTTP/1.1 200 OK\r\n\r\nno',
    { assertions: BODY_IS_OK },
    'assertion_body',
    'body (2 bytes) is not "ok"',
  ],
  [
    'a redirect without a target',
    'HTTP/1.1 301 Moved\r\nLocation: mailto:a@b.example\r\n\r\n',
    {},
    'redirect_invalid',
    'has no target that can be checked',
  ],
])('%s is down, with a reason and a sentence', async (_name, bytes, wish, reason, text) => {
  const server = await opened(startByteServer(bytes))

  const result = await checkOf({ ...wish, url: urlOf(server) })

  expect(result).toMatchObject({ outcome: 'down', reason })
  expect(result.text).toContain(text)
})

test('a connection that is refused is a result like any other', async () => {
  const server = await startHttpServer((_request, response) => response.end())
  await server.close()

  expect(await checkOf({ url: urlOf(server), assertions: BODY_IS_OK })).toMatchObject({
    outcome: 'down',
    reason: 'connect_refused',
    text: `connection refused by 127.0.0.1:${server.port} (IPv4)`,
    status: 0,
    verdicts: [{ kind: 'Body', result: 'fail', seen: null }],
  })
})

test.each<[string, string, string]>([
  ['response_timeout', '', 'no headers were received within 0.2 s'],
  [
    'body_timeout',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok',
    'the body was not complete within 0.2 s',
  ],
])('a server that stops is %s', async (reason, bytes, text) => {
  const server = await opened(startByteServer(bytes, 'open'))

  expect(await checkOf({ url: urlOf(server), http: { timeout: SHORT } })).toMatchObject({
    outcome: 'down',
    reason,
    text,
  })
})

test('a server that stops in the TLS handshake is tls_timeout, and one without TLS tls_failed', async () => {
  const silent = await opened(startRawServer(() => {}))
  const plain = await opened(startRawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
  const https = ({ port }: CheckedServer): string => `https://127.0.0.1:${port}/`

  expect(await checkOf({ url: https(silent), http: { timeout: SHORT } })).toMatchObject({
    reason: 'tls_timeout',
  })
  expect(await checkOf({ url: https(plain) })).toMatchObject({ reason: 'tls_failed' })
})

test('a body that no assertion needs is read up to 64 KiB, and the flag says so', async () => {
  const server = await opened(startByteServer(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(65_537)}`, 'open'))

  expect(await checkOf({ url: urlOf(server) })).toMatchObject({
    outcome: 'up',
    facts: { isBodyCut: true },
  })
})

test('a result has the redirects that were followed, and the versions of IP and HTTP of the last response', async () => {
  const last = await opened(startByteServer('HTTP/1.0 200 OK\r\n\r\nok'))
  const first = await opened(
    startHttpServer((_request, response) => response.writeHead(302, { location: urlOf(last) }).end()),
  )
  const refused = await startByteServer('')
  await refused.close()

  const found = []
  for (const server of [last, first, refused]) found.push((await checkOf({ url: urlOf(server) })).facts)

  const plain = { isBodyCut: false, httpVersion: '1.0', ipVersion: 4, tlsVersion: null, redirects: 0 }
  expect(found).toEqual([plain, { ...plain, redirects: 1 }, { ...plain, httpVersion: null }])
})

test.each<[string, string, string, readonly Assertion[], string]>([
  ['a body', 'HTTP/1.1 200 OK\r\n\r\n', 'a', BODY_IS_OK, 'body_too_large'],
  ['a body that no assertion needs', 'HTTP/1.1 200 OK\r\n\r\n', 'a', [], 'none'],
  [
    'a chunk of 4 GiB',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000000\r\n',
    'a',
    BODY_IS_OK,
    'body_too_large',
  ],
  ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n', [], 'headers_too_large'],
  ['a header', 'HTTP/1.1 200 OK\r\nA: ', 'a', [], 'headers_too_large'],
])(
  '%s without an end is aborted after a limited number of bytes',
  async (_name, start, part, assertions, reason) => {
    const bytesMax = 16 * 1_024 * 1_024
    const piece = part.repeat(16_384)
    let sent = 0
    const server = await opened(
      startRawServer((socket) => {
        const send = (): void => {
          while (!socket.destroyed && sent < bytesMax) {
            sent += piece.length
            if (!socket.write(piece)) return
          }
        }
        socket.on('drain', send)
        socket.once('data', () => {
          socket.write(start)
          send()
        })
      }),
    )

    const result = await checkOf({ url: urlOf(server), assertions })

    expect(result.reason).toBe(reason)
    // The system's buffers of both ends are a part of it.
    expect(sent).toBeLessThan(bytesMax)
  },
)

test.each<[string, string, string, readonly Assertion[], string]>([
  ['a body', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', 'a', [], 'body_timeout'],
  [
    'a chunked body',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    '1\r\na\r\n',
    BODY_IS_OK,
    'body_timeout',
  ],
  ['a header', 'HTTP/1.1 200 OK\r\nA: ', 'a', [], 'response_timeout'],
  ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n', [], 'response_timeout'],
])('a check with %s in small pieces ends at its timeout', async (_name, start, drop, assertions, reason) => {
  let closed: Promise<unknown> | undefined
  const server = await opened(
    startRawServer((socket) => {
      // Also after a reset.
      closed = new Promise((resolve) => socket.once('close', resolve))
      socket.once('data', () => {
        socket.write(start)
        const dripping = setInterval(() => socket.write(drop), 10)
        socket.once('close', () => clearInterval(dripping))
      })
    }),
  )

  const result = await checkOf({ url: urlOf(server), assertions, http: { timeout: SHORT } })
  await closed

  expect(result).toMatchObject({ outcome: 'down', reason, attempts: 1 })
})

test('hosts that redirect to one another slowly share the timeout of one check', async () => {
  const server = await opened(
    startHttpServer(({ url }, response) => {
      setTimeout(() => response.writeHead(302, { location: `/${Number(url?.slice(1)) + 1}` }).end(), 30)
    }),
  )

  const result = await checkOf({
    url: urlOf(server, '/0'),
    http: { timeout: SHORT, max_redirects_to_follow: 20 },
  })

  // On a busy machine the time may end while a hop connects.
  expect(['connect_timeout', 'response_timeout']).toContain(result.reason)
  expect(server.connections()).toBeLessThan(20)
})

test('a decompression bomb is aborted at 1 MiB', async () => {
  const bomb = gzipSync(Buffer.alloc(300_000_000))
  const server = await opened(
    startHttpServer((_request, response) => response.setHeader('Content-Encoding', 'gzip').end(bomb)),
  )

  expect(await checkOf({ url: urlOf(server), assertions: BODY_IS_OK })).toMatchObject({
    reason: 'body_too_large',
  })
})

test.each<[string, (bytes: Buffer) => Buffer]>([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
])('a body in %s is decoded before its assertions', async (coding, encode) => {
  const server = await opened(
    startHttpServer((_request, response) =>
      response.setHeader('Content-Encoding', coding).end(encode(Buffer.from('ok'))),
    ),
  )

  expect(await checkOf({ url: urlOf(server), assertions: BODY_IS_OK })).toMatchObject({ outcome: 'up' })
})

test.each<[string, Buffer, string]>([
  ['text/plain; charset=iso-8859-1', Buffer.from([0xe9]), 'é'],
  ['text/plain; charset="UTF-16LE"', Buffer.from([0xe9, 0]), 'é'],
  ['text/plain; charset=nonsense', Buffer.from('é'), 'é'],
  ['text/plain', Buffer.from('\ufeffé'), 'é'],
  ['text/plain', Buffer.from([0xff]), '\ufffd'],
])('the text of %s is decoded', async (type, bytes, text) => {
  const server = await opened(
    startHttpServer((_request, response) => response.setHeader('Content-Type', type).end(bytes)),
  )

  const assertions: readonly Assertion[] = [{ Body: { matcher: { Equals: text } } }]
  expect(await checkOf({ url: urlOf(server), assertions })).toMatchObject({ outcome: 'up' })
})

test('a response that is only slow is degraded, and one that fails another assertion as well is down', async () => {
  const server = await opened(startHttpServer((_request, response) => response.end('no')))
  const slow: Assertion = {
    Latency: { l_type: 'TotalLatency', expected: { LessThan: { secs: 0, nanos: 1 } } },
  }

  expect(await checkOf({ url: urlOf(server), assertions: [slow] })).toMatchObject({
    outcome: 'degraded',
    reason: 'assertion_latency',
  })
  expect(await checkOf({ url: urlOf(server), assertions: [slow, ...BODY_IS_OK] })).toMatchObject({
    outcome: 'down',
    reason: 'assertion_latency',
  })
})

async function named(
  names: NameTable,
): Promise<{ readonly dnsServers: readonly string[]; readonly questions: () => number }> {
  const { address, questions } = await opened(startDnsServer(names))
  return { dnsServers: [address], questions }
}

test.each<[string, NameTable, typeof SHORT | null, string, string]>([
  ['an unknown name', {}, null, 'dns_name_unknown', 'name shop.example has no address'],
  [
    'a name without addresses',
    { 'shop.example': () => [] },
    ...([null, 'dns_name_unknown', 'name shop.example has no address'] as const),
  ],
  [
    'a failing server',
    { 'shop.example': () => 'failure' },
    ...([null, 'dns_failed', 'name shop.example could not be resolved (ESERVFAIL)'] as const),
  ],
  [
    'a silent server',
    { 'shop.example': () => 'no response' },
    ...([SHORT, 'dns_timeout', 'the name was not resolved within 0.2 s'] as const),
  ],
])('%s is down', async (_name, names, timeout, reason, text) => {
  const { dnsServers } = await named(names)

  const result = await checkOf({ url: 'http://shop.example/', http: { timeout } }, { dnsServers })

  expect(result).toMatchObject({ outcome: 'down', reason, text })
})

test('without a reachable DNS server the endpoint is unknown', async () => {
  const { address, close } = await startDnsServer({})
  await close()

  expect(await checkOf({ url: 'http://shop.example/' }, { dnsServers: [address] })).toMatchObject({
    outcome: 'unknown',
    reason: 'agent_local',
  })
})

test('a name whose other address responds is degraded, and a single address that responds at the second attempt is up', async () => {
  let requests = 0
  const server = await opened(
    startHttpServer((_request, response) => {
      requests += 1
      response.writeHead(requests === 2 ? 500 : 200).end()
    }),
  )
  const { dnsServers } = await named({
    'two.example': () => ['127.0.0.1', '127.0.0.2'],
    'one.example': () => ['127.0.0.1'],
  })
  const url = (name: string): string => `http://${name}:${server.port}/`

  const two = await checkOf(
    { url: url('two.example') },
    { dnsServers },
    { attemptIndex: 1, confirmAfterMs: () => 0 },
  )
  const one = await checkOf({ url: url('one.example') }, { dnsServers }, { confirmAfterMs: () => 0 })

  expect(two).toMatchObject({
    outcome: 'degraded',
    reason: 'one_address',
    attempts: 2,
    text: `127.0.0.2 failed (connection refused by 127.0.0.2:${server.port} (IPv4)), 127.0.0.1 responded`,
  })
  expect(one).toMatchObject({ outcome: 'up', attempts: 2, first: { reason: 'assertion_status' } })
})

test('the delay before the confirming attempt is requested once, and only after a failure', async () => {
  const asked: string[] = []
  const healthy = await opened(startHttpServer((_request, response) => response.end()))
  const failing = await opened(startHttpServer((_request, response) => response.writeHead(500).end()))
  const confirmed = (name: string) => ({ confirmAfterMs: () => (asked.push(name) === 1 ? 0 : undefined) })

  await checkOf({ url: urlOf(healthy) }, {}, confirmed('healthy'))
  const { attempts } = await checkOf({ url: urlOf(failing) }, {}, confirmed('failing'))

  expect({ asked, attempts }).toEqual({ asked: ['failing'], attempts: 2 })
})

test('a check that is aborted closes its connection and rejects with the reason', async () => {
  const stop = new AbortController()
  let closed: Promise<unknown> | undefined
  const server = await opened(
    startRawServer((socket) => {
      closed = new Promise((resolve) => socket.once('close', resolve))
      socket.once('data', () => stop.abort(new Error('stopped by the user')))
    }),
  )

  const checking = checkOf({ url: urlOf(server) }, {}, { signal: stop.signal })

  await expect(checking).rejects.toThrow('stopped by the user')
  await closed
})
