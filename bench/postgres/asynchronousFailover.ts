import { serviceResponseSchema } from '../../api/contract/service.ts'
import { withConnection } from '../../server/store/postgres/schema/migrate.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { runHere } from '../../server/testing/commandHere.ts'
import { startPostgres } from '../../server/testing/manyServers/replicatedPostgres.ts'
import { seedOrg, shareDatabase } from '../../server/testing/manyServers/sharedDatabase.ts'
import { startLossyProxy } from '../../server/testing/postgres/lossyProxy.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'

const KEYS = 100
const REQUESTS_PER_KEY = 10
/** Lag of the standby (milliseconds). */
const BEHIND_MS = 1_000

/** The result of a failover. */
export interface AsynchronousFailover {
  readonly acknowledged: number
  readonly lost: number
  /** Text and exit code of `doctor` before the failover. */
  readonly doctor: { readonly code: number; readonly text: string }
}

/** Creates services while an asynchronous standby falls behind, and fails over to it, which loses the last ones. */
export async function failOverAsynchronously(): Promise<AsynchronousFailover> {
  const primary = await startPostgres()
  const proxy = await startLossyProxy(primary.url)
  const shared = shareDatabase(proxy.url)
  const server = await shared.start()
  const { orgId, keys } = await seedOrg(primary.url, KEYS, { servicesMax: KEYS * REQUESTS_PER_KEY })
  const standby = await primary.makeStandby('asynchronous')
  const { code, stdout } = await runHere(['doctor', '--database', primary.url])
  const [sender] = await numbers(primary.url, 'SELECT pid AS number FROM pg_stat_replication')
  const acknowledged = new Set<string>()
  let stopMs = Number.POSITIVE_INFINITY
  for (let sent = 0; sent < KEYS * REQUESTS_PER_KEY && performance.now() < stopMs; sent += 1) {
    if (sent === REQUESTS_PER_KEY && sender !== undefined) {
      process.kill(sender, 'SIGSTOP')
      stopMs = performance.now() + BEHIND_MS
    }
    const api = apiClient(server.url, keys[Math.floor(sent / REQUESTS_PER_KEY)] ?? '')
    const { status, json } = await api.post('/v1/services', serviceBody())
    if (status === 201) acknowledged.add(serviceResponseSchema.parse(json).id)
  }
  primary.kill()
  if (sender !== undefined) process.kill(sender, 'SIGKILL')
  proxy.cut()
  await standby.promote()
  const stored = await withConnection(standby.url, async (client) => {
    const { rows } = await client.query<{ id: string }>('SELECT id FROM services WHERE org_id = $1', [orgId])
    return new Set(rows.map(({ id }) => id))
  })
  await server.kill()
  await proxy.close()
  for (const one of [primary, standby]) one.remove()
  await shared.remove()
  const lost = [...acknowledged].filter((id) => !stored.has(id)).length
  const text = stdout.split('\n').find((line) => line.includes(' replication ')) ?? ''
  return { acknowledged: acknowledged.size, lost, doctor: { code, text } }
}

async function numbers(url: string, text: string): Promise<readonly number[]> {
  return await withConnection(url, async (client) => {
    const { rows } = await client.query<{ number: number }>(text)
    return rows.map(({ number }) => number)
  })
}
