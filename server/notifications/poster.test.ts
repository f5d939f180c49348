import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Refusal, startConnectProxy } from '../../api/network/testing/connectProxy.ts'
import { type TestAuthority, testAuthority } from '../../monitoring/check/testing/certificates.ts'
import { type CheckedServer, startHttpServer } from '../../monitoring/check/testing/checkedServer.ts'
import { startDnsServer } from '../../monitoring/check/testing/dnsServer.ts'
import { LOCAL_SPELLINGS } from '../../monitoring/check/testing/localSpellings.ts'
import { sealSecret } from '../domain/notifications/channel.ts'
import type { AttemptResult } from '../domain/notifications/retries.ts'
import { masterKeyOf } from '../domain/seal.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { openPoster, type PosterSettings } from './poster.ts'

const masterKey = masterKeyOf(Buffer.alloc(32, 7))
/** The only address that may be reached here, in place of a public one. */
const PUBLIC = '127.0.0.2'
const FORBIDDEN = { status: null, error: 'address_forbidden', durationMs: expect.any(Number) }

/** Sees every connection that gets past the rules. */
let decoy: CheckedServer
let authority: TestAuthority
beforeAll(async () => {
  authority = testAuthority()
  decoy = await startHttpServer((_request, response) => response.end())
})
afterAll(() => decoy.close())

/** What an attempt at `url` comes to; without `attempts` the first one. */
async function post(
  url: string,
  settings: Partial<PosterSettings> = {},
  attempts = 1,
): Promise<AttemptResult> {
  const poster = openPoster({
    ...{ findMasterKey: () => masterKey, nowMs: () => 0, allowedRanges: [`${PUBLIC}/32`] },
    ...settings,
  })
  const place = { orgId: 'acme', channelId: 'ops', role: 'target' } as const
  const target = sealSecret(url, place, masterKey, systemEnvironment)
  const about = {
    eventSeq: 1,
    channelId: 'ops',
    orgId: 'acme',
    webhookId: 'msg_1',
    atMs: 0,
    body: '{}',
    secrets: [],
  }
  let result: AttemptResult | undefined
  for (let made = 0; made < attempts; made += 1) {
    const due = { kind: 'webhook', type: 'channel.test', attempts: made, attempt: made + 1, target } as const
    result = await poster.post({ ...about, ...due }, new AbortController().signal)
  }
  await poster.close()
  if (result === undefined) throw new Error('nothing was posted')
  return result
}

test.each(LOCAL_SPELLINGS)('a webhook to %s reaches nothing, with TLS or without', async (host) => {
  const results = [await post(`http://${host}:${decoy.port}/`), await post(`https://${host}:${decoy.port}/`)]

  expect(results).toEqual([FORBIDDEN, FORBIDDEN])
  expect(decoy.connections()).toBe(0)
})

test('a redirect counts as the response, and is not followed', async () => {
  const location = `http://127.0.0.1:${decoy.port}/`
  const server = await startHttpServer(
    (_request, response) => response.writeHead(307, { Location: location }).end(),
    { host: PUBLIC },
  )

  const result = await post(`http://${PUBLIC}:${server.port}/`)
  await server.close()

  expect(result).toMatchObject({ status: 307, error: null })
  expect(decoy.connections()).toBe(0)
})

test('a status counts even if the body of the response ends early', async () => {
  const server = await startHttpServer(
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': 10 })
      response.write('x', () => response.destroy())
    },
    { host: PUBLIC },
  )

  const result = await post(`http://${PUBLIC}:${server.port}/`)
  await server.close()

  expect(result).toMatchObject({ status: 200, error: null })
})

test('a name whose second answer is a forbidden address is not connected to', async () => {
  const server = await startHttpServer((_request, response) => response.writeHead(500).end(), {
    host: PUBLIC,
  })
  const dns = await startDnsServer(
    { 'hook.example': (question) => [question === 0 ? PUBLIC : '127.0.0.1'] },
    0,
  )

  const settings = { dnsServers: [dns.address] }
  const first = await post(`http://hook.example:${server.port}/`, settings)
  const second = await post(`http://hook.example:${decoy.port}/`, settings)
  await dns.close()
  await server.close()

  expect([first.status, second.error]).toEqual([500, 'address_forbidden'])
  expect(decoy.connections()).toBe(0)
})

test('without TLS nothing is sent outside the allowed ranges, even to a public address', async () => {
  expect(await post('http://1.1.1.1/')).toEqual(FORBIDDEN)
})

const PROXY_LOGIN = 'jane:pass-canary'

test('with a proxy, a literal private address and a host without TLS are still refused by the server', async () => {
  const proxy = await startConnectProxy(PROXY_LOGIN, { '127.0.0.1': decoy.port, 'hook.example': decoy.port })
  const settings = { proxy: `http://${PROXY_LOGIN}@${proxy.address}` }

  const literal = await post('https://127.0.0.1/', settings)
  const local = await post('https://localhost/', settings)
  const own = await startHttpServer((_request, response) => response.writeHead(204).end(), { host: PUBLIC })
  const plain = await post(`http://${PUBLIC}:${own.port}/`, settings)
  const elsewhere = await post('http://1.1.1.1/', settings)
  await own.close()
  await proxy.close()

  expect([literal, local, elsewhere]).toEqual([FORBIDDEN, FORBIDDEN, FORBIDDEN])
  expect(plain.status).toBe(204)
  expect(proxy.asked).toEqual([])
})

test('through a proxy the certificate of a receiver is verified against its name', async () => {
  const receiver = await startHttpServer((_request, response) => response.writeHead(204).end(), {
    certificate: authority.valid,
  })
  const ports = { 'shop.example': receiver.port, 'other.example': receiver.port }
  const proxy = await startConnectProxy(PROXY_LOGIN, ports)
  const settings = {
    ...{ proxy: `http://${PROXY_LOGIN}@${proxy.address}`, authorities: authority.authorities },
  }

  const results = [
    await post('https://shop.example/', settings),
    await post('https://other.example/', settings),
  ]
  await proxy.close()
  await receiver.close()

  expect(results).toMatchObject([
    { status: 204, error: null },
    { status: null, error: 'certificate_name' },
  ])
})

test.each<[string, string, Refusal | undefined, string]>([
  ['requires a password', '', undefined, 'responded with 407'],
  ['does not respond', `${PROXY_LOGIN}@`, () => {}, 'did not connect (no response within 5 s)'],
])('a proxy that %s is named as the reason, without its password', async (_case, login, refusal, said) => {
  const proxy = await startConnectProxy(PROXY_LOGIN, {}, refusal)

  const result = await post('https://hook.example/', { proxy: `http://${login}${proxy.address}` })
  await proxy.close()

  expect(result).toMatchObject({ status: null, error: `the proxy ${proxy.address} ${said}` })
})

test('an unreachable proxy is named as the reason', async () => {
  const proxy = await startConnectProxy(PROXY_LOGIN, {})
  await proxy.close()

  const { error } = await post('https://hook.example/', { proxy: `http://${PROXY_LOGIN}@${proxy.address}` })

  expect(error).toBe(`the proxy ${proxy.address} did not connect (ECONNREFUSED)`)
})

/** Listens on an address, and accepts no connection: those that it has not accepted fill its queue. */
const DEAF = `require('net').createServer().listen({ port: 0, host: '${PUBLIC}', backlog: 1 }, function () {
  require('fs').writeSync(1, String(this.address().port))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

test('an attempt with a host that does not respond ends after 5 s, the timeout for connections, not after 20 s', async () => {
  const deaf = spawn(process.execPath, ['-e', DEAF])
  const [chunk] = await once(deaf.stdout, 'data')
  const port = Number(chunk)
  const queued = Array.from({ length: 8 }, () => connect(port, PUBLIC).on('error', () => {}))
  await once(queued[0] ?? deaf, 'connect')

  const result = await post(`http://${PUBLIC}:${port}/`)
  for (const socket of queued) socket.destroy()
  deaf.kill('SIGKILL')

  expect(result).toMatchObject({ status: null, error: 'connect_timeout' })
  expect(result.durationMs).toBeLessThan(20_000)
})

test('the certificate of a receiver is verified against its name', async () => {
  const started = async (certificate: TestAuthority['valid']) => {
    const server = createHttpsServer(certificate, (_request, response) => response.writeHead(204).end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    // True because the server listens on TCP.
    return { server, url: `https://localhost:${(server.address() as AddressInfo).port}/` }
  }
  const [valid, other] = [await started(authority.valid), await started(authority.otherName)]

  const settings = { allowedRanges: ['127.0.0.0/8'], authorities: authority.authorities }
  const results = [await post(valid.url, settings), await post(other.url, settings)]
  for (const { server } of [valid, other]) server.close()

  expect(results).toMatchObject([
    { status: 204, error: null },
    { status: null, error: 'certificate_name' },
  ])
})
