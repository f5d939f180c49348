import pino from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { apiClient } from '../testing/apiClient.ts'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer } from '../testing/startServer.ts'
import { Hub } from './hub.ts'
import { MonitoredServices } from './monitoredServices.ts'

/** One more than the hub announces at once. */
const SERVICES = 501

const noKey = (): never => {
  throw new Error('no service has a secret')
}

test('a hub that closes during an import announces what it has begun, and not the rest', async () => {
  const server = await startServer({ plan: 'enterprise', rateLimit: 'none' })
  onTestFinished(() => server.close())
  const { store } = server
  const services = new MonitoredServices(store)
  const announced: number[] = []
  let closed: Promise<void> | undefined
  const hub = new Hub({
    ...{ store, services, storeId: store.storeId, findMasterKey: () => noKey() },
    ...{ nowMs: systemEnvironment.nowMs, monotonicMs: () => performance.now() },
    ...{ allowedRanges: [], ownAddresses: () => [], log: pino({ level: 'silent' }) },
    results: {
      update: async (read) => {
        announced.push((await read()).services.length)
        closed ??= hub.close()
      },
      reportAgents: () => {},
      ingest: () => Promise.reject(new Error('no agent sends results')),
    },
  })
  await hub.open()
  const api = apiClient(server.url, server.apiKey)
  await Promise.all(Array.from({ length: SERVICES }, () => api.post('/v1/services', serviceBody())))

  await hub.publish()
  await vi.waitUntil(() => closed !== undefined, { timeout: 60_000 })
  await closed

  expect(announced).toEqual([SERVICES - 1])
})
