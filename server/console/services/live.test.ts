import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { startServer } from '../../testing/startServer.ts'
import { ownServices } from './live.ts'

test('of thousands of changed services, a page finds its own ones with one read', async () => {
  const server = await startServer()
  onTestFinished(() => server.close())
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  const own = String(Object(json).id)
  let reads = 0
  const store: Parameters<typeof ownServices>[0] = {
    getService: (orgId, id) => {
      reads += 1
      return server.store.getService(orgId, id)
    },
    serviceGenerations: (orgId) => {
      reads += 1
      return server.store.serviceGenerations(orgId)
    },
  }
  const others = Array.from({ length: 5_000 }, () => randomUUID())

  const many = await ownServices(store, server.orgId, new Set([...others, own]))
  const few = await ownServices(store, server.orgId, new Set([...others.slice(0, 2), own]))

  expect([many, few, reads]).toEqual([[own], [own], 1 + 3])
})
