import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import type { Assertion } from '../../api/contract/assertion.ts'
import { quotingFor } from './privateTexts.ts'
import { testAuthority } from './testing/certificates.ts'
import { type CheckedServer, checkOf, startHttpServer } from './testing/checkedServer.ts'
import { startDnsServer } from './testing/dnsServer.ts'

let server: CheckedServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const ENCODINGS: readonly ((canary: string) => string)[] = [
  (canary) => canary,
  (canary) => encodeURIComponent(canary),
  (canary) => Buffer.from(canary).toString('base64'),
  (canary) => Buffer.from(canary).toString('base64url'),
  (canary) => JSON.stringify(canary).slice(1, -1),
]

/** A unique value, with characters that encodings change. */
const canary = (kind: string): string => `${kind}-${randomBytes(12).toString('hex')}"é/?`
const CANARIES = 200

test('200 canaries in queries, headers and bodies that the server echoes reach no result', async () => {
  const seen: string[] = []
  server = await startHttpServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    // The response returns everything, in every encoding, where an assertion will read it.
    const sent = [request.url ?? '', body, ...request.rawHeaders].map((text) =>
      Buffer.from(text).toString('latin1'),
    )
    const echo = sent.flatMap((text) =>
      ENCODINGS.map((encode) => encode(text).replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')),
    )
    echo.forEach((text, index) => {
      response.setHeader(`x-echo-${index}`, text)
    })
    response.statusCode = 302
    response.setHeader('Location', `/next?${request.url}`)
    response.end(body)
  })
  const { port } = server
  const leaked: string[] = []
  for (let count = 0; count < CANARIES / 4; count += 1) {
    const [query, sealed, plain, body] = ['query', 'sealed', 'plain', 'body'].map(canary) as [
      string,
      string,
      string,
      string,
    ]
    const assertions: readonly Assertion[] = [
      { Body: { matcher: { Equals: sealed } } },
      { Header: { name: 'location', matcher: { Equals: body } } },
      ...Array.from({ length: 40 }, (_, index): Assertion => {
        return { Header: { name: `x-echo-${index}`, matcher: { Equals: query } } }
      }),
    ]
    const result = await checkOf({
      url: `http://127.0.0.1:${port}/path?token=${encodeURIComponent(query)}`,
      assertions,
      http: {
        method: 'POST',
        max_redirects_to_follow: count % 2,
        headers: { 'X-Sealed': { value: sealed, sensitive: true }, 'X-Plain': { value: plain } },
        body: { value: body, sensitive: count % 3 === 0 },
      },
    })
    const text = JSON.stringify(result)
    seen.push(result.reason)
    for (const value of [query, sealed, plain, body]) {
      const core = value.slice(0, value.indexOf('"'))
      for (const needle of [...ENCODINGS.map((encode) => encode(value)), core])
        if (text.includes(needle)) leaked.push(needle)
    }
  }

  expect(leaked).toEqual([])
  expect(new Set(seen)).toEqual(new Set(['assertion_body', 'too_many_redirects']))
})

test('a certificate for a sealed Host is reported for the host of the URL, without the sealed name', async () => {
  const { authorities, valid, otherName } = testAuthority()
  const checked = async (certificate: typeof valid, host: string) => {
    server = await startHttpServer((_request, response) => response.end(), { certificate })
    const http = { headers: { Host: { value: host, sensitive: true } } }
    const result = await checkOf({ url: `https://127.0.0.1:${server.port}/`, http }, { authorities })
    await server.close()
    server = undefined
    return result
  }

  const results = [await checked(valid, 'shop.example'), await checked(otherName, 'shop.example:443')]

  expect(results).toMatchObject([
    { outcome: 'up', certificates: [{ host: '127.0.0.1', subject: '…' }] },
    { outcome: 'down', text: 'the certificate is not for the sealed Host' },
  ])
  expect(JSON.stringify(results)).not.toContain('shop.example')
})

test('a redirect to the sealed Host, in lower case as servers write it, shows it in no text or certificate', async () => {
  const { authorities, valid, otherName } = testAuthority()
  const dns = await startDnsServer({ 'shop.example': () => ['127.0.0.1'] })
  const first = await startHttpServer(({ url, headers: { host = '' } }, response) => {
    const name = host.toLowerCase()
    const target = url === '/without-port' ? name.replace(/:\d+$/, '') : name
    response.writeHead(301, { Location: `https://${target}/` }).end()
  })
  const checked = async (certificate: typeof valid, host: string, path = '/') => {
    server = await startHttpServer((_request, response) => response.end(), { certificate })
    const { port } = server
    const http = { headers: { Host: { value: `${host}:${port}`, sensitive: true } } }
    const result = await checkOf(
      { url: `http://127.0.0.1:${first.port}${path}`, http },
      { authorities, dnsServers: [dns.address] },
    )
    await server.close()
    server = undefined
    return result
  }

  const results = [
    await checked(valid, 'Shop.example'),
    await checked(otherName, 'Shop.example'),
    await checked(valid, 'Old.Shop.example', '/without-port'),
  ]
  await Promise.all([first.close(), dns.close()])

  expect(results).toMatchObject([
    { outcome: 'up', certificates: [{ host: '127.0.0.1', subject: '…' }] },
    { outcome: 'down', reason: 'certificate_name', text: '…' },
    { outcome: 'down', reason: 'dns_name_unknown', text: '…' },
  ])
  expect(JSON.stringify(results).toLowerCase()).not.toContain('shop.example')
})

test('the rules that hide a long body keep no copies of it, which would take ten times its memory', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const bodies = Array.from({ length: 50 }, (_, index) => `${'"'.repeat(65_000)}${index}`)
  const heapBytes = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }

  const before = heapBytes()
  const rules = bodies.map((value) =>
    quotingFor({
      ...{ url: new URL('https://shop.example/'), method: 'POST', headers: [] },
      body: { value, isSealed: true },
    }),
  )
  const kept = heapBytes() - before

  expect(rules[0]?.isPrivate(`the server said ${bodies[0]}`)).toBe(true)
  expect(kept).toBeLessThan(5_000_000)
})
