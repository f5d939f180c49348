import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { SESSION_COOKIE } from '../../console/routing/cookies.ts'
import { ConsoleClient } from '../../console/testing/consoleClient.ts'
import { type Receiver, startReceiver } from '../../notifications/testing/receiver.ts'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { type ServerProcess, startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'
import { durableDatabases } from './durableDatabases.ts'

/** Maximum wait until one process sees a change by another (milliseconds). */
const WAIT = { timeout: 60_000 }
const INCIDENTS = 6

const folder = suiteFolder()
let url: string
let keyFile: string
let servers: readonly [ServerProcess, ServerProcess]
let receiver: Receiver
let orgId: string
beforeAll(async () => {
  url = await durableDatabases().createEmpty()
  keyFile = join(folder, 'master.key')
  writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
  receiver = await startReceiver()
  const ports = ['--console-port', '0', '--status-port', '0', '--allow-webhook-ranges', '127.0.0.0/8']
  const place = ['--database', url, '--master-key-file', keyFile, '--monitor', 'off']
  const start = () => startProcess(place, ports)
  servers = await Promise.all([start(), start()])
  orgId = await run('org', 'create', '--name', 'Acme', '--plan', 'business')
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  receiver.close()
})

async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, '--database', url])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}

const consoleOf = (server: ServerProcess): string =>
  /^console on (http:\/\/localhost:\d+)$/m.exec(server.stdout())?.[1] ?? ''

test('a person who signs in at one process is signed in at the other, until signing out there', async () => {
  const [first, second] = servers.map((server) => new ConsoleClient(consoleOf(server)))
  if (first === undefined || second === undefined) throw new Error('a process is missing')
  const invite = ['--org', orgId, '--email', 'ada@example.org', '--console-url', consoleOf(servers[0])]
  const link = new URL(await run('owner', 'invite', ...invite)).pathname
  const password = 'correct horse battery'
  await first.post(link.replace('/invite', '/api/invitations'), { name: 'Ada', password })
  const there = new ConsoleClient(consoleOf(servers[1]), first.cookie(SESSION_COOKIE))

  const [here, seen] = [await first.get('/me'), await there.get('/me')]
  const overview = await there.get(`/o/${orgId}/services`)
  const signedIn = await second.post('/api/sessions', { email: 'ada@example.org', password })
  await there.post('/api/sessions/end')
  const [after, stillSecond] = [await first.get('/me'), await second.get('/me')]

  expect([here.status, seen.status, overview.status, signedIn.status]).toEqual([200, 200, 200, 303])
  expect([seen.text.includes('ada@example.org'), after.status, stillSecond.status]).toEqual([true, 303, 200])
})

test("incidents of two processes are delivered once each, in the order of each process, and are shown by the other's status page", async () => {
  const channel = ['--org', orgId, '--kind', 'webhook', '--name', 'ops', '--url', `${receiver.url}/canary`]
  const created = JSON.parse(
    await run('channel', 'create', ...channel, '--master-key-file', keyFile, '--json'),
  )
  const key = await run('key', 'create', '--org', orgId)
  const apis = servers.map((server) => apiClient(server.url, key))
  const serviceId = String(Object((await apis[0]?.post('/v1/services', serviceBody()))?.json).id)
  const page = ['--org', orgId, '--slug', 'shop', '--title', 'Shop', '--service', `${serviceId}=Checkout`]
  await run('status-page', 'create', ...page)
  const shownBy = async (server: ServerProcess) => (await fetch(`${server.statusUrl()}/s/shop`)).text()
  const before = await Promise.all(servers.map(shownBy))

  const made = await Promise.all(
    Array.from({ length: INCIDENTS }, async (_, index) => {
      const [api, other] = index % 2 === 0 ? apis : apis.toReversed()
      const body = {
        title: `Errors ${index}`,
        message: 'x',
        severity: 'major_outage',
        service_ids: [serviceId],
      }
      const opened = Object((await api?.post('/v1/incidents', body))?.json)
      await other?.post(`/v1/incidents/${opened.id}/updates`, { body: 'x', status: 'resolved' })
      return String(opened.id)
    }),
  )
  await receiver.first(2 * INCIDENTS)
  const list = ['channel', 'deliveries', '--id', created.id, '--limit', '100', '--json']
  const states = async () => JSON.parse(await run(...list)).map(({ state }: { state: string }) => state)
  await expect.poll(states, WAIT).toEqual(Array.from({ length: 2 * INCIDENTS }, () => 'sent'))
  const attempts = JSON.parse(await run(...list)).map((one: { attempts: number }) => one.attempts)
  for (const server of servers) await expect.poll(() => shownBy(server), WAIT).toContain('Errors 1')

  const received = receiver.received.map(({ body }) => JSON.parse(body))
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(receiver.received.length)
  for (const id of made) {
    const own = received.filter(({ data }) => data.incident.id === id)
    expect(own.map(({ sequence }) => sequence)).toEqual([1, 2])
  }
  expect(attempts).toEqual(Array.from({ length: 2 * INCIDENTS }, () => 1))
  expect(before.map((text) => [text.includes('Checkout'), text.includes('Errors')])).toEqual([
    [true, false],
    [true, false],
  ])
  expect(await everyText()).not.toContain('canary')
  expect(await everyText()).not.toContain(created.secret)
})

/** Everything that the database and the processes wrote about channels. */
async function everyText(): Promise<string> {
  const rows = await withConnection(url, async (client) => {
    const tables = ['channels', 'sealed_secrets', 'events', 'deliveries', 'attempts', 'audit']
    const found: string[] = []
    for (const table of tables) {
      const result = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t`)
      found.push(...result.rows.map(({ text }) => text))
    }
    return found
  })
  // Bytes are written as hexadecimal digits.
  const bytes = rows.map((row) =>
    row.replaceAll(/\\x([0-9a-f]+)/g, (_, hex) => Buffer.from(hex, 'hex').toString('latin1')),
  )
  return [...rows, ...bytes, ...servers.map((server) => server.stdout() + server.stderr())].join('\n')
}
