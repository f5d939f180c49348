import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Agent } from 'undici'
import { afterAll, afterEach, expect, test } from 'vitest'
import { connectionsFor } from '../../process/connectionsMax.ts'
import { apiClient } from '../apiClient.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none', connectionsMax: 8 })
const port = Number(new URL(server.url).port)
const opened: Socket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
})
afterAll(() => server.close())

/** A connection that has sent `text`, from the address `from` of this machine. */
async function open(text: string, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  opened.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** A connection on which a request of `key` got its response. */
async function openWith(key: string, headers = ''): Promise<Socket> {
  const socket = await open(
    `GET /v1/org HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`,
  )
  await once(socket, 'data')
  return socket
}

/** The status of a customer's request on a new connection. */
async function statusOnNew(key = server.apiKey): Promise<number> {
  const dispatcher = new Agent()
  const { status } = await apiClient(server.url, key).get('/v1/org', { dispatcher })
  await dispatcher.close()
  return status
}

const isOpen = (socket: Socket): boolean => !socket.destroyed && !socket.readableEnded

test('slow connections without a key displace one another, and no connection with a key', async () => {
  const kept = await openWith(server.apiKey)
  const statuses: number[] = []

  for (let dripping = 0; dripping < 40; dripping += 1) {
    await open('GET /v1/org HTTP/1.1\r\nX-Drip: ')
    statuses.push(await statusOnNew())
  }

  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(isOpen(kept)).toBe(true)
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
  const ended = Number(/^pharos_http_connections_ended_total (\d+)$/m.exec(metrics)?.[1])
  expect(ended).toBeGreaterThanOrEqual(36)
})

test('of connections without a key, one of the address with the most connections is closed', async () => {
  const quiet = await open('GET ', '127.0.0.2')
  const loud = [await open('GET '), await open('GET '), await open('GET ')]

  const gone = once(loud[0] ?? quiet, 'close')
  await open('GET ')
  await gone

  expect([quiet, ...loud].map(isOpen)).toEqual([true, false, true, true])
})

test('a key that uses half of all connections displaces its own, the oldest idle one first', async () => {
  const own = await server.createKey()
  const first = await openWith(own)
  const others: Socket[] = []
  const gone = once(first, 'close')
  for (let made = 0; made < 4; made += 1) others.push(await openWith(own))
  await gone

  expect(others.map(isOpen)).toEqual([true, true, true, true])
  expect(await statusOnNew()).toBe(200)
})

test('a new connection displaces an idle one of a key, and none with a request in flight', async () => {
  const keys = [await server.createKey(), await server.createKey()]
  const [busyKey = '', idleKey = ''] = keys
  const busy: Socket[] = []
  const idle: Socket[] = []
  const posting = 'POST /v1/incidents HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n'
  for (let made = 0; made < 4; made += 1) {
    // The server asked for its body, which never arrives.
    const socket = await open(`${posting}Authorization: Bearer ${busyKey}\r\n\r\n`)
    await once(socket, 'data')
    busy.push(socket)
    idle.push(await openWith(idleKey))
  }

  const gone = once(idle[0] ?? busy[0] ?? opened[0] ?? process, 'close')
  const status = await statusOnNew()
  await gone

  expect(status).toBe(200)
  expect(busy.map(isOpen)).toEqual([true, true, true, true])
})

test.each([
  [128, 64],
  [1_024, 768],
  [524_288, 10_000],
  [16, 2],
])('a process with %i descriptors has %i connections', (descriptors, connections) => {
  expect(connectionsFor(descriptors)).toBe(connections)
})
