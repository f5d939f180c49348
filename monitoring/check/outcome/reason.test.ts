import { expect, test } from 'vitest'
import type { Assertion } from '../../../api/contract/assertion.ts'
import { testAuthority } from '../testing/certificates.ts'
import { checkOf, startHttpServer } from '../testing/checkedServer.ts'
import { startDnsServer } from '../testing/dnsServer.ts'

test('a server that insists on HTTP/2 is down: alpn', async () => {
  const certificate = { ...testAuthority().valid, ALPNProtocols: ['h2'] }
  const server = await startHttpServer((_request, response) => response.end(), { certificate })

  const result = await checkOf({ url: `https://127.0.0.1:${server.port}/` })
  await server.close()

  expect(result).toMatchObject({
    ...{ outcome: 'down', reason: 'alpn', text: 'the server does not speak HTTP/1.1 over TLS', status: 0 },
  })
})

const NOTHING = { secs: 0, nanos: 1 }
/** A pattern with so many instructions that a body of 300,000 characters is too long for it. */
const SLOW_PATTERN = '(?i)[a-z]{300}1'

test.each<[string, string, Assertion, RegExp]>([
  [
    'degraded',
    'assertion_dns',
    { DnsResoltion: { expected: { LessThan: NOTHING } } },
    /^name resolved in .+, expected < 0.001 µs$/,
  ],
  [
    ...(['down', 'assertion_header'] as const),
    { Header: { name: 'X-State', matcher: { StartsWith: 'read' } } },
    /^header x-state is "broken", expected to start with "read"$/,
  ],
  [
    ...(['unknown', 'regex_too_slow'] as const),
    { Body: { matcher: { Regex: SLOW_PATTERN } } },
    /^body \(300,000 bytes\); the regular expression took too long, expected to match /,
  ],
])('a false assertion makes its endpoint %s: %s', async (outcome, reason, assertion, text) => {
  const dns = await startDnsServer({ 'shop.example': () => ['127.0.0.1'] })
  const server = await startHttpServer((_request, response) => {
    response.setHeader('X-State', 'broken').end('a'.repeat(300_000))
  })

  const result = await checkOf(
    { url: `http://shop.example:${server.port}/`, assertions: [assertion] },
    { dnsServers: [dns.address] },
  )
  await Promise.all([server.close(), dns.close()])

  expect(result).toMatchObject({ outcome, reason, status: 200, text: expect.stringMatching(text) })
})
