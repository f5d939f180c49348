import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { type ApiResponse, type ApiClient, apiClient } from '../apiClient.ts'
import { durableDatabases } from '../postgres/durableDatabases.ts'
import type { ServerProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'
import { type SharedDatabase, seedOrg, shareDatabase } from './sharedDatabase.ts'

let url: string
let database: SharedDatabase
let servers: readonly ServerProcess[]
beforeAll(async () => {
  url = await durableDatabases().createEmpty()
  database = shareDatabase(url)
  servers = await Promise.all([1, 2, 3].map(() => database.start()))
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await database.remove()
})

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Number of requests that a key may send at once, with a margin. */
const REQUESTS_PER_KEY = 15

/** Clients of the processes in turns, of which none reaches the rate limit within `count` requests. */
function clientsOf(keys: readonly string[], count: number): readonly ApiClient[] {
  return many(count).map((index) => {
    const server = servers[index % servers.length]
    return apiClient(server?.url ?? '', keys[Math.floor(index / REQUESTS_PER_KEY)] ?? '')
  })
}

const statuses = (responses: readonly ApiResponse[], status: number) =>
  responses.filter((response) => response.status === status)

test('simultaneous creates at three processes fill the plan exactly', async () => {
  const { keys } = await seedOrg(url, 6, { servicesMax: 25 })

  const clients = clientsOf(keys, 75)
  const responses = await Promise.all(clients.map((client) => client.post('/v1/services', serviceBody())))

  const stored = await apiClient(servers[0]?.url ?? '', keys[5] ?? '').get('/v1/services')
  const count = Array.isArray(stored.json) ? stored.json.length : 0
  expect([statuses(responses, 201).length, statuses(responses, 403).length, count]).toEqual([25, 50, 25])
})

test('one Idempotency-Key sent to three processes at once creates one service', async () => {
  const { keys } = await seedOrg(url, 5)
  const idempotencyKeys = many(10).map(() => randomUUID())

  const responses = await Promise.all(
    idempotencyKeys.map((key) =>
      Promise.all(
        clientsOf(keys, 60)
          .slice(0, 6)
          .map((client, index) =>
            client.post('/v1/services', serviceBody(), {
              key: keys[index % keys.length] ?? '',
              headers: { 'Idempotency-Key': key },
            }),
          ),
      ),
    ),
  )

  const texts = responses.map((same) => new Set(same.map(({ status, text }) => `${status} ${text}`)))
  expect(texts.map(({ size }) => size)).toEqual(many(10).map(() => 1))
  expect(new Set(texts.flatMap((same) => [...same])).size).toBe(10)
})

test('incidents opened at three processes at once are numbered from 1 without a gap', async () => {
  const { keys } = await seedOrg(url, 3)
  const { json } = await apiClient(servers[0]?.url ?? '', keys[0] ?? '').post('/v1/services', serviceBody())
  const { id } = serviceResponseSchema.parse(json)
  const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [id] }

  const responses = await Promise.all(clientsOf(keys, 45).map((client) => client.post('/v1/incidents', body)))

  const numbers = responses.map(({ json }) =>
    Number(incidentSchema.parse(json).display_id.slice('INC-'.length)),
  )
  expect(numbers.toSorted((a, b) => a - b)).toEqual(many(45).map((index) => index + 1))
})

test('three processes share the rate limit of a key: a burst, and one request every 200 ms', async () => {
  const { keys } = await seedOrg(url, 1)
  const clients = servers.map((server) => apiClient(server.url, keys[0] ?? ''))
  let granted = 0
  const firstSentMs = performance.now()
  let firstGrantedMs = Number.POSITIVE_INFINITY
  const ask = async (client: ApiClient): Promise<boolean> => {
    const { status } = await client.get('/v1/services')
    if (status !== 200) return false
    firstGrantedMs = Math.min(firstGrantedMs, performance.now())
    granted += 1
    return true
  }

  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - firstSentMs < 2_000) {
        await ask(client)
        await sleep(20)
      }
    }),
  )
  // The requests earned meanwhile, however slow the machine was.
  let lastRefusedMs = performance.now()
  while (await ask(clients[0] ?? apiClient('', ''))) lastRefusedMs = performance.now()
  const endedMs = performance.now()

  const atLeast = 20 + Math.floor((lastRefusedMs - firstGrantedMs) / 200) - 1
  const atMost = 20 + Math.floor((endedMs - firstSentMs) / 200)
  expect([granted >= atLeast, granted <= atMost]).toEqual([true, true])
  expect(atMost - atLeast).toBeLessThan(20)
})
