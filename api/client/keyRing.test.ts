import { afterAll, expect, test } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import { Client } from './client.ts'
import { KeyRing, KeysOfDifferentOrgs } from './keyRing.ts'
import { rateOf } from './limiter.ts'

const server = await startServer()
afterAll(() => server.close())

function client(...keys: readonly [string, string]): Client {
  const [apiKey, more] = keys
  return new Client({ url: server.url, apiKey, moreApiKeys: [more], userAgent: 'test' })
}

test('each key of an organisation has its own rate limit, and requests move from a throttled key to the others', async () => {
  const still = { nowMs: () => 0, random: () => 0, after: () => () => {} }
  const ring = new KeyRing(['a', 'b', 'c'], undefined, still)
  const used: string[] = []
  for (let i = 0; i < 70; i += 1) void ring.pass('in-order', undefined).then((key) => used.push(key.apiKey))
  await new Promise((resolve) => setImmediate(resolve))
  expect([used.length, new Set(used).size]).toEqual([60, 3])

  const other = new KeyRing(['a', 'b'], undefined, still)
  other.keys[0]?.limiter.refused(undefined)
  expect((await other.pass('in-order', undefined)).apiKey).toBe('b')
})

test('a rate limits the burst of each key, and its refill afterwards', async () => {
  let nowMs = 0
  const ring = new KeyRing(
    ['a', 'b'],
    undefined,
    { nowMs: () => nowMs, random: () => 0, after: () => () => {} },
    rateOf(2.5),
  )
  const used: string[] = []
  for (let i = 0; i < 20; i += 1) {
    void ring.pass('in-order', undefined).then((key) => {
      used.push(key.apiKey)
      key.limiter.ended()
    })
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(used.sort()).toEqual(['a', 'a', 'b', 'b'])

  nowMs = 399
  expect(ring.keys.map(({ limiter }) => limiter.tokens)).toEqual([0, 0])
  nowMs = 400
  expect(ring.keys.map(({ limiter }) => limiter.tokens)).toEqual([1, 1])
})

test('keys of different organisations are refused together, and one read_only key makes all of them read_only', async () => {
  const other = await server.createKey({ orgId: await server.createOrg({ name: 'Other' }) })
  const mixed = client(server.apiKey, other)
  await expect(mixed.getOrg()).rejects.toThrow(KeysOfDifferentOrgs)
  await mixed.close()
  const reading = client(server.apiKey, await server.readOnlyKey())
  expect(await reading.getOrg()).toMatchObject({ scope: 'read_only' })
  await reading.close()
})
