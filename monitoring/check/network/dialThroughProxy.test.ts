import type { Duplex } from 'node:stream'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConnectProxy,
  type Refusal,
  startConnectProxy,
} from '../../../api/network/testing/connectProxy.ts'
import { testAuthority, type TestAuthority } from '../testing/certificates.ts'
import {
  type CheckedServer,
  checkOf,
  type EndpointSettings,
  startHttpServer,
} from '../testing/checkedServer.ts'
import { startDnsServer } from '../testing/dnsServer.ts'

/** A name in the certificate that only the proxy can resolve. */
const HOST = 'shop.example'
const LOGIN = 'jane:pass-canary'
const SHORT = { secs: 0, nanos: 200_000_000 }

let authority: TestAuthority
let server: CheckedServer
let plain: CheckedServer
const proxies: ConnectProxy[] = []
beforeAll(async () => {
  authority = testAuthority()
  const respondWith = (text: string) => (_request: unknown, response: { end: (text: string) => void }) =>
    response.end(text)
  server = await startHttpServer(respondWith('secured'), { certificate: authority.valid })
  plain = await startHttpServer(respondWith('plain'))
})
afterAll(async () => {
  await server.close()
  await plain.close()
})
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close()
})

async function startProxy(ports: Readonly<Record<string, number>>, refusal?: Refusal): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(LOGIN, ports, refusal)
  proxies.push(proxy)
  return proxy
}

function checkThrough(proxy: ConnectProxy, wish: EndpointSettings, login = LOGIN) {
  return checkOf(wish, {
    ...{ authorities: authority.authorities, allowedRanges: [] },
    proxy: `http://${login}@${proxy.address}`,
  })
}

test('a check through a proxy sends it the name, and verifies the certificate of the host', async () => {
  const proxy = await startProxy({ [HOST]: server.port, 'other.example': server.port })
  const assertions = [{ Body: { matcher: { Equals: 'secured' } } }] as const

  const result = await checkThrough(proxy, { url: `https://${HOST}/`, assertions })
  const other = await checkThrough(proxy, { url: 'https://other.example/' })

  expect(result).toMatchObject({ outcome: 'up', status: 200, phases: { dns: 0 }, facts: { ipVersion: null } })
  expect(result.phases.connect).toBeGreaterThan(0)
  expect(result.phases.tls).toBeGreaterThan(0)
  expect(other).toMatchObject({ outcome: 'down', reason: 'certificate_name' })
  expect(proxy.asked).toEqual([`${HOST}:443`, 'other.example:443'])
})

test('a check without TLS uses the proxy too', async () => {
  const proxy = await startProxy({ [HOST]: plain.port })

  const result = await checkThrough(proxy, { url: `http://${HOST}/` })

  expect(result).toMatchObject({ outcome: 'up', status: 200, facts: { tlsVersion: null } })
  expect(proxy.asked).toEqual([`${HOST}:80`])
})

test('redirects go through the proxy, and one to a private address is forbidden', async () => {
  const redirecting = await startHttpServer((_request, response) =>
    response.writeHead(302, { Location: `http://127.0.0.1:${plain.port}/` }).end(),
  )
  const proxy = await startProxy({ [HOST]: redirecting.port, '127.0.0.1': plain.port })

  const http = { max_redirects_to_follow: 2 }
  const result = await checkThrough(proxy, { url: `http://${HOST}/`, http })
  await redirecting.close()

  expect(result).toMatchObject({ outcome: 'unknown', reason: 'address_forbidden' })
  expect(proxy.asked).toEqual([`${HOST}:80`])
})

test.each([
  'http://127.0.0.1/',
  'https://[::1]/',
  'http://10.0.0.1/',
  'http://localhost/',
  `http://${HOST}:25/`,
])('%s is forbidden, and the proxy is not contacted', async (url) => {
  const proxy = await startProxy({})

  const result = await checkThrough(proxy, { url })

  expect(result).toMatchObject({ outcome: 'unknown', reason: 'address_forbidden', status: 0 })
  expect(proxy.asked).toEqual([])
})

const refuseWith =
  (text: string): Refusal =>
  (client: Duplex) =>
    client.end(text)

test.each<[string, string, Refusal | undefined, { readonly outcome: string; readonly reason: string }]>([
  ['requires a password', '', undefined, { outcome: 'unknown', reason: 'agent_local' }],
  [
    'does not allow the host',
    LOGIN,
    refuseWith('HTTP/1.1 403 Forbidden\r\n\r\n'),
    { outcome: 'unknown', reason: 'agent_local' },
  ],
  [
    'cannot reach the host',
    LOGIN,
    refuseWith('HTTP/1.1 503 Unavailable\r\n\r\n'),
    { outcome: 'down', reason: 'connect_unreachable' },
  ],
  [
    'speaks another protocol',
    LOGIN,
    refuseWith('220 mail.example ESMTP\r\n'),
    { outcome: 'unknown', reason: 'agent_local' },
  ],
  ['does not respond', LOGIN, () => {}, { outcome: 'down', reason: 'connect_timeout' }],
])('a proxy that %s is named without its password', async (_case, login, refusal, found) => {
  const proxy = await startProxy({ [HOST]: server.port }, refusal)

  // Only a proxy that does not respond takes the whole time.
  const http = found.reason === 'connect_timeout' ? { timeout: SHORT } : {}
  const result = await checkThrough(proxy, { url: `https://${HOST}/`, http }, login)

  expect(result).toMatchObject({
    ...found,
    status: 0,
    text: expect.stringContaining(`the proxy ${proxy.address}`),
  })
  expect(JSON.stringify(result)).not.toContain('canary')
})

test('an unreachable proxy makes the endpoint unknown', async () => {
  const proxy = await startProxy({})
  await proxy.close()

  const result = await checkThrough(proxy, { url: `https://${HOST}/` })

  expect(result).toMatchObject({
    ...{ outcome: 'unknown', reason: 'agent_local' },
    text: `the proxy ${proxy.address} did not connect (ECONNREFUSED)`,
  })
})

test('behind a proxy, with_dns resolves the name locally, only to measure it', async () => {
  const proxy = await startProxy({ [HOST]: server.port })
  const dns = await startDnsServer({ [HOST]: () => ['127.0.0.1'] }, 0)
  const settings = {
    ...{ authorities: authority.authorities, allowedRanges: [], dnsServers: [dns.address] },
    proxy: `http://${LOGIN}@${proxy.address}`,
  }

  const result = await checkOf({ url: `https://${HOST}/`, http: { with_dns: true } }, settings)
  await dns.close()

  expect(result).toMatchObject({ outcome: 'up', status: 200 })
  expect(result.phases.dns).toBeGreaterThan(0)
  expect(proxy.asked).toEqual([`${HOST}:443`])
})
