import { expect, onTestFinished, test } from 'vitest'
import { createService } from '../../domain/serviceChanges.ts'
import { monotonicMs } from '../../process/systemEnvironment.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { startServer } from '../../testing/startServer.ts'
import { SERVICE_DEPS } from '../../testing/storedServices.ts'
import { type IndexSources, ServiceIndex } from './serviceIndex.ts'

/** More services than are read one by one, with more than 8 MiB in all. */
const COUNT = 201
const BODY_CHARS = 16_000

test('the services of an organisation with long definitions are read some at a time, and then no more', async () => {
  const server = await startServer()
  onTestFinished(() => server.close())
  await server.overrideLimits({ servicesMax: COUNT, endpointsMax: 3 * COUNT })
  const call = { Http: { method: 'POST' as const, timeout: null, body: { value: 'x'.repeat(BODY_CHARS) } } }
  const endpoints = [1, 2, 3].map((at) => endpointBody({ url: `https://shop.example/${at}`, call }))
  const create = (index: number) =>
    server.store.createService(server.orgId, undefined, ({ quota }) =>
      createService(serviceBody({ name: `service ${index}`, endpoints }), { ...SERVICE_DEPS, quota }),
    )
  await Promise.all(Array.from({ length: COUNT }, (_, index) => create(index)))
  const reads = { now: 0, atOnce: 0, whole: 0, single: 0 }
  const store: IndexSources['store'] = {
    changeCount: () => server.store.changeCount(),
    serviceGenerations: (orgId) => server.store.serviceGenerations(orgId),
    renderServices: (orgId) => server.store.renderServices(orgId),
    listServices: (orgId) => {
      reads.whole += 1
      return server.store.listServices(orgId)
    },
    getService: async (orgId, id) => {
      reads.single += 1
      reads.now += 1
      reads.atOnce = Math.max(reads.atOnce, reads.now)
      const found = await server.store.getService(orgId, id)
      reads.now -= 1
      return found
    },
  }
  const index = new ServiceIndex({ store, measurements: undefined, monotonicMs })

  const { services } = await index.readServices(server.orgId)
  await index.readServices(server.orgId)

  expect(services.map(({ name }) => name)).toEqual(Array.from({ length: COUNT }, (_, at) => `service ${at}`))
  expect([reads.whole, reads.single]).toEqual([0, COUNT])
  expect(reads.atOnce).toBeLessThanOrEqual(10)
})
