import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LiveReader, LiveStreams } from './liveStreams.ts'

const SERVICE = 'one'
/** More than a connection takes whose client does not read (bytes). */
const LONG = 'x'.repeat(2 ** 20)
const LONGS = 40

let app: FastifyInstance
let url: string
let streams: LiveStreams
let listeners: Set<(serviceIds: ReadonlySet<string>) => void>
/** Errors of responses, each of which would end the program. */
let errors: Error[]
let sockets: Socket[]
let isMember: boolean

const change = (): void => {
  for (const listener of listeners) listener(new Set([SERVICE]))
}

/** A connection that sent requests for `paths`, one behind the other, and reads nothing. */
async function stalled(...paths: readonly string[]): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause()
  sockets.push(socket)
  await once(socket, 'connect')
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  return socket
}

beforeEach(async () => {
  streams = new LiveStreams()
  listeners = new Set()
  errors = []
  sockets = []
  isMember = true
  const measurements: LiveReader['measurements'] = {
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  app = fastify({ forceCloseConnections: true })
  app.get('/long', async () => LONG)
  app.get<{ Params: { person: string; session: string } }>('/live/:person/:session', (request, reply) => {
    reply.raw.on('error', (error) => errors.push(error))
    const { person: personId, session: sessionKey } = request.params
    const reader = { ownOf: async () => [SERVICE], isMember: async () => isMember }
    const start = () => streams.start(reply, { personId, sessionKey, measurements, ...reader })
    if (sessionKey === 'gone') reply.raw.on('close', start)
    else start()
  })
  url = await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  streams.end()
  await app.close()
})

const asked = (path: string) => fetch(`${url}${path}`)

const behindOthers = (path: string) => [...Array.from({ length: LONGS }, () => '/long'), path]

test('a stream tells proxies not to hold its events back', async () => {
  const { headers, body } = await fetch(`${url}/live/ada/one`)
  await body?.cancel()

  expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(headers.get('x-accel-buffering')).toBe('no')
})

test('nothing is written to a stream that ended while its client was not reading', async () => {
  await stalled(...behindOthers('/live/ada/1'))
  await expect.poll(() => listeners.size, { timeout: 30_000 }).toBe(1)
  streams.end()
  change()
  await asked('/long')

  expect([errors, listeners.size]).toEqual([[], 1])
})

test('a stream queued behind unread responses ends with its connection', async () => {
  const socket = await stalled(...behindOthers('/live/ada/1'))
  await expect.poll(() => listeners.size, { timeout: 30_000 }).toBe(1)
  socket.destroy()

  await expect.poll(() => listeners.size, { timeout: 30_000 }).toBe(0)
})

test('clients that disconnect before their stream begins leave nothing behind', async () => {
  for (let index = 0; index < 6; index += 1) {
    const socket = await stalled('/live/ada/gone')
    await asked('/long')
    socket.destroy()
  }
  const response = await asked('/live/ada/1')
  await response.body?.cancel()

  expect([response.status, listeners.size <= 1]).toEqual([200, true])
})

test('a HEAD request opens no stream', async () => {
  const response = await fetch(`${url}/live/ada/1`, { method: 'HEAD' })

  expect([response.status, listeners.size]).toEqual([204, 0])
})

test('a session has at most five streams, and a person twenty over all sessions', async () => {
  // Kept, because the client closes the stream of a response that was garbage collected.
  const responses: Response[] = []
  for (const session of ['1', '2', '3', '4', '5']) {
    for (let index = 0; index < 6; index += 1) responses.push(await asked(`/live/ada/${session}`))
  }
  const other = await asked('/live/eve/1')

  const five = [200, 200, 200, 200, 200, 204]
  expect(responses.map(({ status }) => status)).toEqual([
    ...five,
    ...five,
    ...five,
    ...five,
    204,
    204,
    204,
    204,
    204,
    204,
  ])
  expect(other.status).toBe(200)
})

test('a person who is no longer a member gets no change, and the stream ends', async () => {
  const response = await asked('/live/ada/1')
  isMember = false
  change()

  expect(await response.text()).toBe('retry: 3000\n\n')
})
