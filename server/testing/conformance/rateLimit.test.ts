import { Agent } from 'undici'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { apiClient } from '../apiClient.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

let nowMs = 0
let wallMs = Date.parse('2026-01-01T00:00:00Z')
const server = await startServer({ monotonicMs: () => nowMs, environment: { nowMs: () => wallMs } })
let api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())
beforeEach(async () => {
  api = apiClient(server.url, await server.createKey())
})

/** Number of accepted requests out of `count`. */
async function passing(count: number, client = api): Promise<number> {
  const responses = await Promise.all(Array.from({ length: count }, () => client.get('/v1/org')))
  return responses.filter(({ status }) => status !== 429).length
}

test('C026 a fresh key passes 20 requests at once and the 21st gets 429', async () => {
  expect(await passing(20)).toBe(20)
  expect((await api.get('/v1/org')).status).toBe(429)
})

test.each([
  [200, 1],
  [1_000, 5],
  [4_000, 20],
  [3_600_000, 20],
])('C027 after %i ms without a request exactly %i pass', async (idleMs, expected) => {
  await passing(21)

  nowMs += idleMs

  expect(await passing(25)).toBe(expected)
})

test('C028 reads, writes and refusals each cost one token', async () => {
  const spent = [
    await api.get('/v1/services'),
    await api.post('/v1/services', serviceBody()),
    await api.post('/v1/services', {}),
    await api.get('/v1/nothing'),
    await api.call('PUT', '/v1/org'),
    await api.delete(`/v1/services/${UNKNOWN_ID}`),
  ]

  expect(spent.map(({ status }) => status)).toEqual([200, 201, 400, 404, 405, 404])
  expect(await passing(20)).toBe(14)
})

test('C028 a refused mutation of a read_only key costs a token', async () => {
  const readOnly = apiClient(server.url, await server.readOnlyKey())

  const { status } = await readOnly.post('/v1/services', serviceBody())

  expect([status, await passing(20, readOnly)]).toEqual([403, 19])
})

test('C029 two keys of one organisation have separate buckets', async () => {
  const other = apiClient(server.url, await server.createKey())
  await passing(21)

  expect(await passing(21, other)).toBe(20)
})

test('C030 one key has one bucket, whatever address it is used from', async () => {
  const neighbour = new Agent({ connect: { localAddress: '127.0.0.2' } })
  await passing(15)

  const responses = await Promise.all(
    Array.from({ length: 10 }, () => api.get('/v1/org', { dispatcher: neighbour })),
  )
  await neighbour.close()

  expect(responses.filter(({ status }) => status === 200)).toHaveLength(5)
  expect(await passing(5)).toBe(0)
})

test('C031 C032 a 429 costs no token and says when to retry', async () => {
  await passing(20)
  const refused = await api.get('/v1/org')
  await passing(50)

  nowMs += 200

  expect([refused.text, refused.headers['retry-after']]).toEqual(['{"error":"rate limit exceeded"}', '1'])
  expect(await passing(5)).toBe(1)
})

test('C033 requests without a key stay 401 however many there are', async () => {
  const responses = await Promise.all(Array.from({ length: 40 }, () => api.get('/v1/org', { key: null })))

  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]))
})

test.each([
  ['an hour back', (ms: number) => ms - 3_600_000],
  ['an hour forward', (ms: number) => ms + 3_600_000],
  ['to 1970', () => 0],
  ['to 2039', () => Date.parse('2039-01-01T00:00:00Z')],
])('C034 a wall clock set %s does not change the allowance', async (_where, set) => {
  await passing(21)

  wallMs = set(wallMs)

  expect(await passing(5)).toBe(0)
})

test('C035 50 requests a second for ten seconds pass the burst and five a second', async () => {
  let passed = 0
  for (let second = 0; second < 10; second += 1) {
    for (let tick = 0; tick < 5; tick += 1) {
      passed += await passing(10)
      nowMs += 200
    }
  }

  expect(passed).toBe(69)
})

test('C037 a mutation over the limit has no effect at all', async () => {
  await passing(20)
  const before = [await server.store.listServices(server.orgId), await server.commands()]

  const refused = await api.post('/v1/services', serviceBody())

  expect(refused.status).toBe(429)
  expect([await server.store.listServices(server.orgId), await server.commands()]).toEqual(before)
})

test('C038 an organisation may have 500 keys', async () => {
  const orgId = await server.createOrg()

  let newest = ''
  for (let made = 0; made < 500; made += 1) newest = await server.createKey({ orgId })

  expect((await apiClient(server.url, newest).get('/v1/org')).status).toBe(200)
})

test('every response to a key contains its remaining allowance', async () => {
  const { headers } = await api.get('/v1/org')

  expect([headers['ratelimit-policy'], headers.ratelimit]).toEqual(['"key";q=20;w=4', '"key";r=19;t=1'])
})
