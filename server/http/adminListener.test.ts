import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'
import { apiClient } from '../testing/apiClient.ts'
import { rawExchange } from '../testing/rawExchange.ts'
import { startServer } from '../testing/startServer.ts'
import { createMetrics } from './metrics.ts'

let nowMs = 0
const server = await startServer({ monotonicMs: () => nowMs })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

test.each([
  ['nonsense\r\n\r\n', 400],
  ['GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  [`GET /healthz HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: all\r\nConnection: close\r\n\r\n', 417],
  ['GET /v1/org HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
  ['GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 200],
])('the admin listener responds to %j with %i, and in JSON', async (request, status) => {
  expect((await rawExchange(server.adminUrl, request)).status).toBe(status)
})

test.each([
  [2, 2],
  // Each may have megabytes, and all would be rendered at once.
  [100, 0],
])('%i requests sent at once to the admin listener get %i responses', async (sent, received) => {
  const socket = connect(Number(new URL(server.adminUrl).port))
  const request = 'GET /metrics HTTP/1.1\r\n'
  socket.write(`${`${request}\r\n`.repeat(sent - 1)}${request}Connection: close\r\n\r\n`)

  const responses = await text(socket)

  expect(responses.split('HTTP/1.1 200 OK')).toHaveLength(received + 1)
})

test('the readiness probe writes at most once a second, however often it is requested', async () => {
  const other = new Sqlite(databaseFile(server.dataDir))
  other.exec(`CREATE TABLE beats (beat); CREATE TRIGGER counted_insert AFTER INSERT ON heartbeat
    BEGIN INSERT INTO beats VALUES (1); END; CREATE TRIGGER counted_update AFTER UPDATE ON heartbeat
    BEGIN INSERT INTO beats VALUES (1); END`)
  const beats: unknown[] = []

  for (let second = 1; second <= 2; second += 1) {
    nowMs += 1_000
    await Promise.all(Array.from({ length: 10 }, () => fetch(`${server.adminUrl}/readyz`)))
    await fetch(`${server.adminUrl}/readyz`)
    beats.push(other.prepare('SELECT count(*) FROM beats').pluck().get())
  }

  other.close()
  expect(beats).toEqual([1, 2])
})

test('metrics identify a key by its id, not by any part of the key', async () => {
  await api.get('/v1/regions')

  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()

  const [key] = await server.store.listKeys(server.orgId)
  expect(metrics).toContain(
    `pharos_http_requests_total{route="/v1/regions",method="GET",status="200",key="${key?.id}"} 1`,
  )
  expect(metrics).not.toContain(`"${key?.last4}"`)
})

test('names end in _total for every counter and for no other metric', async () => {
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()

  const typed = [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
  }))
  expect(typed.length).toBeGreaterThan(10)
  expect(typed.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([])
})

test('metrics have separate series for at most a thousand keys', async () => {
  const { count, render } = createMetrics({ heldBytes: 0, mostHeldBytes: 0 })
  const caller = {
    keyLast4: '',
    scope: 'read_only',
    orgId: '',
    orgName: '',
    plan: '',
    hasApiAccess: true,
  } as const
  const record = { requestId: '', method: 'GET', route: '/v1/org', status: 200, durationMs: 1, address: '' }

  for (let made = 0; made < 1_005; made += 1) count({ ...record, caller: { ...caller, keyId: randomUUID() } })

  const lines = (await render()).split('\n').filter((line) => line.startsWith('pharos_http_requests_total{'))
  expect(lines.length).toBe(1_001)
  expect(lines.at(-1)).toMatch(/key="other"\} 5$/)
})
