import { afterEach, expect, test } from 'vitest'
import type { Delivery } from '../domain/commands.ts'
import { BUS_READER } from '../store/store.ts'
import { apiClient } from '../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../testing/startServer.ts'
import type { Bus } from './bus.ts'
import { startRelay } from './relay.ts'

let server: TestServer
afterEach(() => server.close())

/** A bus that accepts nothing until it is opened, and records what it accepted. */
function closedBus(): Bus & { readonly taken: Delivery[]; open: () => void } {
  const taken: Delivery[] = []
  let isOpen = false
  return {
    taken,
    open: () => {
      isOpen = true
    },
    publish: async (delivery) => {
      if (!isOpen) throw new Error('no connection')
      taken.push(delivery)
    },
  }
}

/** Commands that the bus has not accepted yet, up to one batch. */
async function unpublished(countMax: number): Promise<readonly Delivery[]> {
  const { store } = server
  return (await store.commandsAfter(await store.cursorOf(BUS_READER), countMax)).deliveries
}

/** Creates a service; returns its id and text. */
async function create(changes: Parameters<typeof serviceBody>[0]) {
  const { json, text } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody(changes))
  // True because the response is a service.
  const { id } = json as { id: string }
  return { id, text }
}

test('a region gets the current definition of a service, as the newest published generation of this store', async () => {
  const bus = closedBus()
  server = await startServer({ rateLimit: 'none', bus, isRestored: false })
  const api = apiClient(server.url, server.apiKey)
  const one = await create({ regions: ['eu-west-1', 'us-east-1'] })
  const two = await create({ regions: ['eu-west-1'] })
  const gone = await create({ regions: ['eu-west-1'] })
  const replaced = await api.patch(`/v1/services/${one.id}`, serviceBody({ regions: ['us-east-1'] }))
  await api.post(`/v1/services/${two.id}/pause`)
  // Not published: the regions still compare with the pause.
  await api.patch(`/v1/services/${two.id}`, serviceBody({ regions: ['sa-east-1'] }))
  await api.delete(`/v1/services/${gone.id}`)

  bus.open()
  await server.publishCommands()

  const deliveredFor = (serviceId: string) =>
    bus.taken
      .filter((delivery) => delivery.serviceId === serviceId)
      .map(({ type, region, generation, definition }) => [type.slice(0, 3), region, generation, definition])
  const newest = ['Sta', 'us-east-1', 2, replaced.text]
  const ended = ['End', 'eu-west-1', 2, null]
  expect(deliveredFor(one.id)).toEqual([ended, newest, ended, newest])
  expect(deliveredFor(two.id)).toEqual([ended, ended])
  expect(deliveredFor(gone.id)).toEqual([['End', 'eu-west-1', 1, null], ended])
  expect(new Set(bus.taken.map(({ storeId }) => storeId))).toEqual(new Set([server.store.storeId]))
  expect(await unpublished(10)).toEqual([])
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
  expect(await unpublished(10)).toEqual([])
})

/** Endpoints of some 980 kB. */
const call = { Http: { method: 'POST' as const, timeout: null, body: { value: 'x'.repeat(65_000) } } }
const MANY = Array(15).fill(endpointBody({ call }))

test('definitions are fetched a few at a time, once for all regions of a service, and all commands are published', async () => {
  const bus = closedBus()
  server = await startServer({ rateLimit: 'none', isRestored: false, bus })
  const regions = ['eu-west-1', 'us-east-1']
  for (let made = 0; made < 9; made += 1) await create({ regions, endpoints: MANY })

  const fetched = await unpublished(500)
  bus.open()
  await server.publishCommands()

  expect(fetched.length).toBe(8 * regions.length)
  expect(bus.taken.length).toBe(9 * regions.length)
})

test('definitions of services that have moved to other regions are fetched a few at a time as well', async () => {
  const bus = closedBus()
  server = await startServer({ rateLimit: 'none', isRestored: false, bus })
  const api = apiClient(server.url, server.apiKey)
  const ids: string[] = []
  for (let made = 0; made < 9; made += 1) {
    ids.push((await create({ regions: ['eu-west-1'], endpoints: MANY })).id)
  }
  for (const id of ids)
    await api.patch(`/v1/services/${id}`, serviceBody({ regions: ['us-east-1'], endpoints: MANY }))

  const fetched = await unpublished(500)
  bus.open()
  await server.publishCommands()

  expect(fetched.map(({ region }) => region)).toEqual(Array(8).fill('eu-west-1'))
  expect(bus.taken.length).toBe(9 * 3)
})

test('a relay that stops publishes no further batch of many commands', async () => {
  server = await startServer({ rateLimit: 'none', bus: closedBus() })
  const made = 501
  await server.overrideLimits({ servicesMax: made })
  await Promise.all(Array.from({ length: made }, () => create({ regions: ['eu-west-1'] })))
  let count = 0
  let stopped: Promise<void> | undefined
  const bus: Bus = {
    publish: async () => {
      count += 1
      stopped ??= relay.stop()
    },
  }

  const relay = startRelay({ store: server.store, bus, onError: () => {} })
  await relay.drain()
  await stopped

  expect(count).toBe(500)
})
