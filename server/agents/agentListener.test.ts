import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { IDLE_SYNC } from '../../monitoring/agent/testing/idleSync.ts'
import { makeKeyPair } from '../../monitoring/protocol/sessionSeal.ts'
import { createLog } from '../process/requestLog.ts'
import { freePort } from '../testing/freePort.ts'
import { rawExchange } from '../testing/rawExchange.ts'
import { agentListener } from './agentListener.ts'
import { RESPONSE_MS_MAX } from './forwardRequest.ts'
import { type AgentHarness, startHarness } from './testing/agentHarness.ts'

let harness: AgentHarness
let token: string
beforeAll(async () => {
  harness = await startHarness()
  ;({ token } = await harness.createToken())
})
afterAll(() => harness.close())

const MIB = 1_024 * 1_024
/** Agents that wait for changes: Node warns when eleven listen to one signal. */
const WAITING = 11
const POLL = { timeout: 60_000 }
const OTHER_INSTANCE = '0192b1d4-5c1e-4000-8000-0000000000bb'
const { publicKey } = makeKeyPair()

const sync = (changes: object = {}) => ({ ...IDLE_SYNC, public_key: publicKey, ...changes })

interface Sent {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

async function send({ path = '/agent/v1/sync', method = 'POST', headers = {}, body = '' }: Sent) {
  const response = await fetch(`${harness.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(method === 'GET' ? {} : { body: new Uint8Array(Buffer.from(body)) }),
  })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

const json = (value: object) => ({ body: JSON.stringify(value) })

test('an invalid message is refused with its place, and without its value', async () => {
  const canary = 'canary-value'
  const refusals = await Promise.all([
    send({ path: '/v1/services', ...json(sync()) }),
    send({ method: 'GET' }),
    send({ body: `{"protocol":1,"x":${canary}` }),
    send({ body: '[]' }),
    send(json(sync({ instance: canary }))),
    send(json(sync({ instance: OTHER_INSTANCE, public_key: 'A'.repeat(44) }))),
    send({ headers: { 'content-encoding': 'br' }, body: 'x' }),
    send({ headers: { 'content-encoding': 'gzip' }, body: canary }),
    send({ path: '/agent/v1/results', ...json({ protocol: 1, results: [[canary]] }) }),
  ])

  expect(refusals.map(({ status }) => status)).toEqual([404, 405, 400, 400, 400, 400, 415, 400, 400])
  expect(refusals.map(({ text }) => text).join()).not.toContain(canary)
  expect(refusals.slice(4).map(({ text }) => JSON.parse(text).error)).toEqual([
    'instance: must be a UUID',
    'public_key: is not an X25519 public key',
    'content-encoding must be gzip',
    'body: is not gzip',
    'store: must be a string',
  ])
})

test('values that not every database can store are refused', async () => {
  const load = { ...IDLE_SYNC.load, clock_ahead_ms: 1e300 }
  const detail = {
    ...{ series: 1, due_s: 1, text: 'a\u0000b', failed: 0 },
    ...{ expected: null, seen: null, first: null },
  }
  const results = {
    ...{ protocol: 1, store: OTHER_INSTANCE, instance: OTHER_INSTANCE, batch: 1, sent_ms: 1 },
    ...{ results: [], details: [detail], certificates: [] },
  }

  const refusals = await Promise.all([
    send(json(sync({ version: '0.2.0\u0000' }))),
    send(json(sync({ load }))),
    send({ path: '/agent/v1/results', ...json(results) }),
  ])

  expect(refusals.map(({ text }) => JSON.parse(text).error)).toEqual([
    'version: must not contain U+0000',
    'load.clock_ahead_ms: must be at most 8640000000000000',
    'details[0].text: must not contain U+0000',
  ])
})

test('a message that is too long, compressed or not, is refused before it is buffered', async () => {
  const long = await send({ body: Buffer.alloc(4 * MIB + 1) })
  const bomb = gzipSync(Buffer.alloc(64 * MIB))
  const refusedBomb = await send({ headers: { 'content-encoding': 'gzip' }, body: bomb })
  const unannounced = await rawExchange(
    harness.url,
    `POST /agent/v1/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    `${(4 * MIB + 1).toString(16)}\r\n`,
    Buffer.alloc(4 * MIB + 1),
  )

  expect([long.status, refusedBomb.status, unannounced.status]).toEqual([413, 413, 413])
  expect(bomb.length).toBeLessThan(MIB)
})

test('responses are compressed for agents that accept it, and requests may be compressed', async () => {
  const body = gzipSync(JSON.stringify(sync({ version: 'x'.repeat(64) })))

  const { status, text } = await send({
    headers: { 'content-encoding': 'gzip', 'accept-encoding': 'gzip' },
    body,
  })

  expect(status).toBe(200)
  expect(JSON.parse(text)).toMatchObject({ protocol: 1, region: 'eu-west-1', whole: true, start: [] })
})

test('an agent of another protocol is refused with the side to upgrade', async () => {
  const older = await send(json(sync({ protocol: 0 })))
  const newer = await send(json(sync({ protocol: 9 })))

  expect([older.status, JSON.parse(older.text)]).toEqual([
    400,
    { error: 'the agent speaks protocol 0, this server 1: upgrade the agent', code: 'protocol' },
  ])
  expect(JSON.parse(newer.text).error).toContain('upgrade the server first')
})

test('API keys are refused by the agent listener and agent tokens by the API, and invalid ones are throttled', async () => {
  const withKey = await send({
    headers: { authorization: `Bearer ${harness.server.apiKey}` },
    ...json(sync()),
  })
  const atApi = await fetch(`${harness.server.url}/v1/services`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const wrong = `pharos_agent_${'0'.repeat(64)}`
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { status } = await send({ headers: { authorization: `Bearer ${wrong}` }, ...json(sync()) })
      return status
    }),
  )
  const right = await send(json(sync()))

  expect([withKey.status, atApi.status, right.status]).toEqual([401, 401, 200])
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
})

/** The head of a sync. */
const syncHead = (...headers: readonly string[]) =>
  [`POST /agent/v1/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`, ...headers, '\r\n'].join(
    '\r\n',
  )
/** The start of a sync. */
const halfSync = () => `${syncHead('Content-Length: 100')}{`

test('an agent that disconnects during a message, or a proxy that requests a tunnel, leaves nothing behind', async () => {
  const { port, hostname } = new URL(harness.url)
  const half = connect(Number(port), hostname)
  half.write(halfSync())
  await once(half, 'connect')
  half.destroy()
  const tunnel = connect(Number(port), hostname)
  tunnel.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n')
  const [response] = await once(tunnel, 'data')

  expect(String(response)).toContain('this server is not a proxy')
  expect((await send(json(sync()))).status).toBe(200)
})

/** A listener at a server that forwards requests to `other`, and the lines that it logs. */
async function startForwarding(other: string, monotonicMs = () => 0) {
  const lines: string[] = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString())
      done()
    },
  })
  const { hub, server } = harness
  const listener = agentListener({
    ...{ hub, tokens: server.store, elsewhere: () => other, monotonicMs },
    log: createLog(output, 'info'),
  })
  await once(listener.server.listen(0, '127.0.0.1'), 'listening')
  // True because the server listens on TCP.
  const { port } = listener.server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const ask = (changes: object = {}, signal = new AbortController().signal) =>
    fetch(`${url}/agent/v1/sync`, {
      ...{ method: 'POST', body: JSON.stringify(sync(changes)), signal },
      headers: { authorization: `Bearer ${token}` },
    })
  return { ask, url, lines, stop: listener.stop }
}

test('a server that cannot forward requests of agents logs the reason at intervals', async () => {
  let nowMs = 0
  const other = `http://127.0.0.1:${await freePort()}`
  const { ask, url, lines, stop } = await startForwarding(other, () => nowMs)

  const statuses = [(await ask()).status, (await rawExchange(url, halfSync())).status]
  const first = lines.length
  nowMs = 60_000
  statuses.push((await ask()).status)
  await stop()

  expect(statuses).toEqual([429, 429, 429])
  expect([first, lines.length]).toEqual([1, 2])
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'requests of agents cannot be forwarded',
    server: other,
    err: { message: expect.stringContaining('ECONNREFUSED') },
  })
})

test('a request that the monitoring server answers with 101, or only with other 1xx, is refused in bounded time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const hints: Socket[] = []
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  const other = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      if (data.includes('hints')) hints.push(socket)
      else socket.write(switching)
    })
  })
  await once(other.listen(0, '127.0.0.1'), 'listening')
  // True because the server listens on TCP.
  const { port } = other.address() as AddressInfo
  const { url, lines, stop } = await startForwarding(`http://127.0.0.1:${port}`)
  const ask = (asks: string) =>
    rawExchange(url, syncHead(`X-Asks: ${asks}`, 'Content-Length: 0', 'Connection: close'))

  const switched = await ask('switch')
  const hinted = ask('hints')
  await vi.waitFor(() => expect(hints).toHaveLength(1), POLL)
  hints[0]?.write('HTTP/1.1 103 Early Hints\r\n\r\n')
  vi.advanceTimersByTime(RESPONSE_MS_MAX)

  expect(switched.status).toBe(429)
  expect((await hinted).status).toBe(429)
  expect(lines.map((line) => JSON.parse(line).err.message)).toEqual([
    expect.stringContaining('the other server responded with 101'),
  ])
  await stop()
  other.close()
})

test('a server that stops ends forwarded syncs at once, and logs no failure when agents leave or it stops', async () => {
  const arrived: Socket[] = []
  const silent = createServer((socket) => arrived.push(socket.resume()))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  // True because the server listens on TCP.
  const { port } = silent.address() as AddressInfo
  const { ask, url, lines, stop } = await startForwarding(`http://127.0.0.1:${port}`)
  const left = new AbortController()
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))

  const leaving = ask({}, left.signal)
  const leavingHalfway = connect(Number(new URL(url).port), '127.0.0.1')
  leavingHalfway.write(halfSync())
  const waiting = Promise.all(Array.from({ length: WAITING }, () => ask()))
  await expect.poll(() => arrived.length, POLL).toBe(WAITING + 2)
  left.abort()
  leavingHalfway.destroy()
  await expect(leaving).rejects.toThrow()
  // The sockets of the agents that left are closed, the others wait.
  await expect.poll(() => arrived.filter(({ closed }) => closed).length, POLL).toBe(2)
  const stopped = stop()

  expect((await waiting).map(({ status }) => status)).toEqual(Array(WAITING).fill(429))
  await stopped
  expect([lines, warnings]).toEqual([[], []])
  silent.close()
})
