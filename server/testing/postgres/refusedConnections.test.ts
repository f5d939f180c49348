import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { monotonicMs } from '../../process/systemEnvironment.ts'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { startServer, type TestServer } from '../startServer.ts'
import { sharedCluster } from './cluster.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    ...{ isMonitoring: true, rateLimit: 'none', isPlain: false },
    // Four times as fast: no request waits for all of the five seconds.
    monotonicMs: () => 4 * monotonicMs(),
  })
})
afterAll(() => server.close())

const get = (url: string) => fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } })
const ready = async () => (await fetch(`${server.adminUrl}/readyz`)).status

/** Makes PostgreSQL refuse new connections to the server's database, or accept them again. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const name = new URL(server.flags[1] ?? '').pathname.slice(1)
  await withConnection((await sharedCluster()).url, async (client) => {
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`)
    if (isAllowed) return
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
  })
}

const REASON = 'is not currently accepting connections'

/** The lines of the log with the message `msg`. */
function linesWith(msg: string): readonly Record<string, unknown>[] {
  const lines = server.logged().split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line)).filter((line) => line.msg === msg)
}

/** The lines about refused requests that name why. On a busy machine, others name a connection that took too long. */
function explained(): readonly Record<string, unknown>[] {
  return linesWith('refused').filter(({ error }) => String(error).includes(REASON))
}

test('while PostgreSQL refuses connections, a server is not ready, asks for a retry, and logs the reason in few lines', async () => {
  await allowConnections(false)
  let refused = await get(`${server.url}/v1/org`)
  while ((await ready()) === 200) await sleep(10)
  while (explained().length === 0) {
    refused = await get(`${server.url}/v1/org`)
    await sleep(20)
  }
  const unready = await ready()
  const metrics = await fetch(`${server.adminUrl}/metrics`)
  const page = await metrics.text()
  await allowConnections(true)
  while ((await ready()) !== 200) await sleep(10)
  while ((await get(`${server.url}/v1/org`)).status !== 200) await sleep(10)

  expect([refused.status, refused.headers.get('retry-after'), unready]).toEqual([500, '1', 503])
  expect(metrics.status).toBe(200)
  expect(page).toMatch(/^pharos_database_up 0$/m)
  expect(page).toMatch(/^pharos_http_requests_total\{route="\/v1\/org",.*status="500"/m)
  expect(linesWith('request failed')).toEqual([])
  expect(explained()[0]).toMatchObject({ level: 50, status: 500, route: '/v1/org' })
  // Background tasks that the outage interrupts log it; those that begin in it do not.
  expect(linesWith('the database does not respond')).toEqual([
    expect.objectContaining({ level: 50, reason: expect.stringContaining('connection') }),
  ])
  expect(linesWith('the database responds again')).toHaveLength(1)
  expect(server.logged()).not.toContain('"type":"DatabaseDown"')
})
