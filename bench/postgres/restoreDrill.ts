import { setTimeout as sleep } from 'node:timers/promises'
import { serviceResponseSchema } from '../../api/contract/service.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { startPostgres } from '../../server/testing/manyServers/replicatedPostgres.ts'
import { seedOrg, shareDatabase } from '../../server/testing/manyServers/sharedDatabase.ts'
import { startLossyProxy } from '../../server/testing/postgres/lossyProxy.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'

const CLIENTS = 20
const REQUESTS_PER_KEY = 15
const LOAD_MS = 8_000

/** The result of a drill. */
export interface RestoreDrill {
  readonly acknowledged: number
  /** Number of acknowledged creates that the restored database lacks. */
  readonly lost: number
  /** Time from the first lost create to the loss of the database (milliseconds). */
  readonly lostMs: number
  /** Time from the loss until a server on the restored database has listed all services (milliseconds). */
  readonly tookMs: number
  /** Number of lost creates from the first half of the load, which must be in the archive. */
  readonly holes: number
}

/**
 * Creates services while the database log is archived every second, loses the database with its disk, and recovers an
 * earlier copy from the archive.
 */
export async function drillRestore(): Promise<RestoreDrill> {
  const database = await startPostgres()
  const proxy = await startLossyProxy(database.url)
  const shared = shareDatabase(proxy.url)
  const first = await shared.start()
  const { keys } = await seedOrg(database.url, CLIENTS * 10, { servicesMax: 100_000, endpointsMax: 100_000 })
  const restore = await database.makeBackup()
  const acknowledged = new Map<string, number>()
  const endMs = performance.now() + LOAD_MS
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let sent = 0; performance.now() < endMs; sent += 1) {
        const key = keys[client * 10 + (Math.floor(sent / REQUESTS_PER_KEY) % 10)] ?? ''
        const response = await apiClient(first.url, key).post('/v1/services', serviceBody())
        if (response.status === 201) {
          acknowledged.set(serviceResponseSchema.parse(response.json).id, performance.now())
        } else await sleep(50)
      }
    }),
  )
  const lostAtMs = performance.now()
  database.kill()
  await first.kill()
  database.remove()
  const restored = await restore()
  proxy.redirect(restored.url)
  const second = await shared.start()
  const { json } = await apiClient(second.url, keys[0] ?? '').get('/v1/services')
  const tookMs = performance.now() - lostAtMs
  await second.kill()
  await proxy.close()
  restored.remove()
  await shared.remove()
  const found = new Set(
    serviceResponseSchema
      .array()
      .parse(json)
      .map(({ id }) => id),
  )
  const lost = [...acknowledged].filter(([id]) => !found.has(id)).map(([, atMs]) => atMs)
  return {
    ...{ acknowledged: acknowledged.size, lost: lost.length, tookMs },
    lostMs: lost.length === 0 ? 0 : lostAtMs - Math.min(...lost),
    holes: lost.filter((atMs) => atMs < lostAtMs - LOAD_MS / 2).length,
  }
}
