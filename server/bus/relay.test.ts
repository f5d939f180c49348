import { afterEach, expect, test } from 'vitest'
import { BUS_READER } from '../store/store.ts'
import { apiClient } from '../testing/apiClient.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'
import type { Bus } from './bus.ts'
import { startRelay } from './relay.ts'

let server: TestServer
afterEach(() => server.close())

/** The region of each command that the bus has not accepted yet. */
async function unpublished(): Promise<readonly string[]> {
  const { commands } = await server.store.commandsAfter(await server.store.cursorOf(BUS_READER), 500)
  return commands.map(({ region }) => region)
}

test('commands whose publication fails stay in the outbox and are published again, in order', async () => {
  const published: (readonly string[])[] = []
  let fails = true
  server = await startServer({
    rateLimit: 'none',
    isRestored: false,
    bus: {
      publish: async (commands) => {
        if (fails) throw new Error('no connection')
        published.push(commands.map(({ type, region, generation }) => `${type} ${region} ${generation}`))
      },
    },
  })
  const api = apiClient(server.url, server.apiKey)
  const created = await api.post('/v1/services', serviceBody({ regions: ['eu-west-1', 'us-east-1'] }))
  // True because the response is a service.
  const { id } = created.json as { id: string }
  await api.patch(`/v1/services/${id}`, serviceBody({ regions: ['us-east-1', 'sa-east-1'] }))

  await expect(server.publishCommands()).rejects.toThrow('no connection')
  const kept = await unpublished()
  fails = false
  await server.publishCommands()

  const regions = ['eu-west-1', 'us-east-1', 'eu-west-1', 'us-east-1', 'sa-east-1']
  expect(kept).toEqual(regions)
  expect(published.flat()).toEqual([
    'StartServiceMonitoring eu-west-1 1',
    'StartServiceMonitoring us-east-1 1',
    'EndServiceMonitoring eu-west-1 2',
    'StartServiceMonitoring us-east-1 2',
    'StartServiceMonitoring sa-east-1 2',
  ])
  expect(await unpublished()).toEqual([])
})

test('a relay that stops publishes no further batch of many commands', async () => {
  const closed: Bus = { publish: () => Promise.reject(new Error('no connection')) }
  server = await startServer({ rateLimit: 'none', bus: closed })
  const made = 501
  await server.overrideLimits({ servicesMax: made })
  const api = apiClient(server.url, server.apiKey)
  const body = serviceBody({ regions: ['eu-west-1'] })
  await Promise.all(Array.from({ length: made }, () => api.post('/v1/services', body)))
  let count = 0
  let stopped: Promise<void> | undefined
  const bus: Bus = {
    publish: async (commands) => {
      count += commands.length
      stopped ??= relay.stop()
    },
  }

  const relay = startRelay({ store: server.store, bus, onError: () => {} })
  await relay.drain()
  await stopped

  expect(count).toBe(500)
})
