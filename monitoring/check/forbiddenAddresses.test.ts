import { afterAll, expect, test } from 'vitest'
import { addressRules } from './network/addressRules.ts'
import { checkOf, startHttpServer } from './testing/checkedServer.ts'
import { type NameTable, startDnsServer } from './testing/dnsServer.ts'
import { LOCAL_SPELLINGS } from './testing/localSpellings.ts'

/** Counts every connection that passes the rules. */
/** The only permitted address here, instead of a public one. */
const PUBLIC = '127.0.0.2'
const SETTINGS = { allowedRanges: [`${PUBLIC}/32`] }

const decoy = await startHttpServer((_request, response) => response.end('secret'))
afterAll(async () => {
  await decoy.close()
})

test.each(LOCAL_SPELLINGS)('http://%s/ is unknown, and nothing connects', async (host) => {
  const result = await checkOf({ url: `http://${host}:${decoy.port}/` }, SETTINGS)

  expect(result).toMatchObject({ outcome: 'unknown', reason: 'address_forbidden', status: 0 })
  expect(decoy.connections()).toBe(0)
})

test.each(LOCAL_SPELLINGS)('a redirect to http://%s/ is not followed', async (host) => {
  const server = await startHttpServer(
    (_request, response) =>
      response
        .writeHead(302, { Location: Buffer.from(`http://${host}:${decoy.port}/`).toString('latin1') })
        .end(),
    { host: PUBLIC },
  )

  const result = await checkOf({ url: `http://${PUBLIC}:${server.port}/` }, SETTINGS)
  await server.close()

  expect(result).toMatchObject({ outcome: 'unknown', reason: 'address_forbidden', status: 302 })
  expect(result.text).toContain("--allow-ranges of pharos-server serve (and of the region's pharos-agent)")
  expect(decoy.connections()).toBe(0)
})

async function checkNamed(names: NameTable, port: number, confirmAfterMs?: number): Promise<object> {
  const { address, close } = await startDnsServer(names, 0)
  const url = `http://shop.example:${port}/`
  const result = await checkOf(
    { url },
    { ...SETTINGS, dnsServers: [address] },
    { confirmAfterMs: () => confirmAfterMs },
  )
  await close()
  return result
}

test('a name with only private addresses is unknown, and of a name with both kinds the public address is dialled', async () => {
  const server = await startHttpServer((_request, response) => response.end(), { host: PUBLIC })
  const both = { 'shop.example': () => ['127.0.0.1', '10.0.0.1', PUBLIC] }

  const isPrivate = await checkNamed({ 'shop.example': () => ['127.0.0.1', '10.0.0.1'] }, decoy.port)
  const isMixed = await checkNamed(both, server.port)
  await server.close()

  expect(isPrivate).toMatchObject({ outcome: 'unknown', reason: 'address_forbidden' })
  expect(isMixed).toMatchObject({ outcome: 'up' })
  expect(decoy.connections()).toBe(0)
})

test('a name that resolves to a public address first and to a private one on the second attempt gets no second connection', async () => {
  const names = { 'shop.example': (question: number) => (question === 0 ? [PUBLIC] : ['127.0.0.1']) }

  // At the public address nothing listens on this port, so that there is a second attempt.
  const result = await checkNamed(names, decoy.port, 0)

  expect(result).toMatchObject({ outcome: 'unknown', reason: 'address_forbidden', attempts: 2 })
  expect(decoy.connections()).toBe(0)
})

test('ports of other protocols, own addresses and reserved ranges are forbidden, unless their range is allowed', () => {
  const { isForbidden, isBlocked } = addressRules(['10.0.0.0/8'], (address) => address === '93.184.216.34')

  expect(
    [
      '8.8.8.8:443',
      '8.8.8.8:22',
      '8.8.8.8:6379',
      '93.184.216.34:443',
      '10.1.1.1:5432',
      '169.254.169.254:80',
      '168.63.129.16:80',
    ]
      .map((one) => one.split(':') as [string, string])
      .map(([address, port]) => isForbidden(address, Number(port))),
  ).toEqual([false, true, true, true, false, true, true])
  const open = ['2606:4700::1111', '::ffff:8.8.8.8', '::ffff:10.0.0.1']
  // Private, translated, documentation, and never assigned.
  const closed = ['fd00::1', 'fec0::1', '::ffff:0:8.8.8.8', '64:ff9b::1', '2001:db8::1', '200::1', '4000::1']
  expect(open.filter((address) => isForbidden(address, 443))).toEqual([])
  expect(closed.filter((address) => !isForbidden(address, 443))).toEqual([])
  expect([isBlocked('http://shop.example:25/'), isBlocked('http://shop.example/')]).toEqual([true, false])
})
