import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { BODY_BYTES_MAX } from '../../http/transport/jsonBody.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const port = Number(new URL(server.url).port)

/** Accepted connections, newest last. Node announces each one here. */
const accepted: Socket[] = []
const announcements = channel('net.server.socket')
const onAccepted = (message: unknown): void => {
  const socket = typeof message === 'object' && message !== null && 'socket' in message && message.socket
  if (socket instanceof Socket) accepted.push(socket)
}
announcements.subscribe(onAccepted)
afterAll(async () => {
  announcements.unsubscribe(onAccepted)
  await server.close()
})

const CHUNK = 'x'.repeat(65_536)
const CHUNKS = 1_024
/** Maximum number of bytes read: the body, the part dropped after the refusal, and one read in flight. */
const READ_BYTES_MAX = 2 * BODY_BYTES_MAX + 4 * CHUNK.length

/**
 * Sends 64 MiB, or as much as the server accepts. Resolves with the first line of the response and the number of bytes
 * read.
 */
async function sendHuge(head: string, chunk: string): Promise<readonly [string, number]> {
  const socket = connect(port, '127.0.0.1')
  let response = ''
  socket.on('data', (bytes) => {
    response += bytes.toString()
  })
  // A disconnect is expected: writes in flight fail.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  socket.write(head)
  for (let sent = 0; sent < CHUNKS && !socket.destroyed; sent += 1) {
    if (!socket.write(chunk))
      await Promise.race([new Promise((drained) => socket.once('drain', drained)), closed])
  }
  socket.end()
  await closed
  return [response.split('\r\n')[0] ?? '', accepted.at(-1)?.bytesRead ?? 0]
}

const KEY = `Authorization: Bearer ${server.apiKey}\r\n`
const LENGTH = `Content-Length: ${CHUNK.length * CHUNKS}\r\n`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

test.each([
  ['POST', '/v1/services', KEY + LENGTH, '413 Payload Too Large'],
  ['POST', '/v1/services', KEY + CHUNKED, '413 Payload Too Large'],
  ['POST', '/v1/services', LENGTH, '401 Unauthorized'],
  ['POST', '/v1/services', CHUNKED, '401 Unauthorized'],
  ['POST', '/v1/nothing', KEY + CHUNKED, '404 Not Found'],
  ['DELETE', '/v1/services/x', KEY + CHUNKED, '413 Payload Too Large'],
  ['GET', '/v1/org', KEY + CHUNKED, '200 OK'],
  ['GET', '/openapi.json', CHUNKED, '200 OK'],
])(
  'C157 %s %s with a body of 64 MiB and %j gets a response, and little of the body is read',
  async (...row) => {
    const [method, path, headers, status] = row
    const chunk = headers.endsWith(CHUNKED) ? `${CHUNK.length.toString(16)}\r\n${CHUNK}\r\n` : CHUNK

    const [line, readBytes] = await sendHuge(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`, chunk)

    expect(line).toBe(`HTTP/1.1 ${status}`)
    expect(readBytes).toBeGreaterThan(0)
    expect(readBytes).toBeLessThan(READ_BYTES_MAX)
  },
)
