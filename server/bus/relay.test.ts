import { afterEach, expect, test } from 'vitest'
import type { Command } from '../domain/commands.ts'
import { REGIONS } from '../domain/regions.ts'
import { apiClient } from '../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'
import { inProcessBus } from './inProcessBus.ts'

let server: TestServer
afterEach(() => server.close())

test('commands reach their region in the order of generations, each with the definition of its time', async () => {
  const bus = inProcessBus()
  const received: Command[] = []
  bus.subscribe('eu-west-1', async (command) => {
    received.push(command)
  })
  server = await startServer({ rateLimit: 'none', bus })
  const api = apiClient(server.url, server.apiKey)
  const { json } = await api.post('/v1/services', serviceBody({ regions: ['eu-west-1', 'us-east-1'] }))
  // True because the answer above is a service.
  const { id } = json as { id: string }
  const replaced = await api.patch(`/v1/services/${id}`, serviceBody({ name: 'Two' }))
  await api.delete(`/v1/services/${id}`)

  await server.publishCommands()

  expect(received.map(({ type, generation }) => [type, generation])).toEqual([
    ['StartServiceMonitoring', 1],
    ['StartServiceMonitoring', 2],
    ['EndServiceMonitoring', 3],
  ])
  expect(received[1]?.definition).toBe(replaced.text)
  expect(await server.store.unpublishedCommands(10)).toEqual([])
})

test('a command whose publication fails stays in the outbox and is published again, in order', async () => {
  const delivered: string[] = []
  let fails = true
  server = await startServer({
    rateLimit: 'none',
    bus: {
      publish: async ({ region }) => {
        if (fails && region === 'us-east-1') throw new Error('no connection')
        delivered.push(region)
      },
      subscribe: () => () => {},
    },
  })
  await apiClient(server.url, server.apiKey).post(
    '/v1/services',
    serviceBody({ regions: ['eu-west-1', 'us-east-1', 'sa-east-1'] }),
  )

  await expect(server.publishCommands()).rejects.toThrow('no connection')
  fails = false
  await server.publishCommands()

  expect(delivered.slice(-3)).toEqual(['eu-west-1', 'us-east-1', 'sa-east-1'])
  expect(await server.store.unpublishedCommands(10)).toEqual([])
})

test('a long definition reaches every region and is not kept after that, so that replacing fills no disk', async () => {
  const bus = inProcessBus()
  const received: (string | null)[] = []
  const regions = ['eu-west-1', 'us-east-1']
  for (const region of regions) {
    bus.subscribe(region, async ({ definition }) => {
      received.push(definition)
    })
  }
  server = await startServer({ rateLimit: 'none', bus, isRestored: false })
  const api = apiClient(server.url, server.apiKey)
  const call = { Http: { method: 'POST' as const, timeout: null, body: { value: 'x'.repeat(20_000) } } }

  const long = await api.post('/v1/services', serviceBody({ regions, endpoints: [endpointBody({ call })] }))
  const short = await api.post('/v1/services', serviceBody())
  await server.publishCommands()

  expect(received).toEqual([long.text, long.text, short.text])
  const kept = (await server.store.listCommands()).map(({ definition }) => definition)
  expect(kept).toEqual([null, null, short.text])
})

test('commands with the longest definitions are fetched a few at a time, and all of them published', async () => {
  let isReady = false
  let delivered = 0
  server = await startServer({
    rateLimit: 'none',
    isRestored: false,
    bus: {
      publish: async () => {
        if (!isReady) throw new Error('no connection')
        delivered += 1
      },
      subscribe: () => () => {},
    },
  })
  const regions = REGIONS.map(({ code }) => code)
  const call = { Http: { method: 'POST' as const, timeout: null, body: { value: 'x'.repeat(65_000) } } }
  const body = serviceBody({ regions, endpoints: Array(15).fill(endpointBody({ call })) })
  const api = apiClient(server.url, server.apiKey)
  for (let made = 0; made < 2; made += 1) await api.post('/v1/services', body)

  const fetched = await server.store.unpublishedCommands(500)
  isReady = true
  await server.publishCommands()

  expect(fetched.length).toBe(8)
  expect(delivered).toBe(2 * regions.length)
})
