import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { apiClient } from '../../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../../testing/startServer.ts'
import { BODY_BYTES_MAX } from './jsonBody.ts'

const BODY = JSON.stringify(serviceBody())

function requestOf(key: string, headers: string, body: string): string {
  const authorization = key === '' ? '' : `Authorization: Bearer ${key}\r\n`
  return `POST /v1/services HTTP/1.1\r\nHost: x\r\n${authorization}${headers}\r\n\r\n${body}`
}

function createOf({ apiKey }: TestServer): string {
  return requestOf(apiKey, `Content-Length: ${Buffer.byteLength(BODY)}`, BODY)
}

/** All bytes that the server at `url` sends in response to `text`, until it closes the connection. */
async function whatIsSaidTo(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let said = ''
  socket.on('data', (chunk) => {
    said += chunk.toString()
  })
  socket.write(text)
  await once(socket, 'close')
  return said
}

const TOO_LONG = 'x'.repeat(BODY_BYTES_MAX + 1)
const CHUNKS = `${TOO_LONG.length.toString(16)}\r\n${TOO_LONG}\r\n0\r\n\r\n`

test.each([
  ['417', (key: string) => requestOf(key, 'Expect: cake\r\nContent-Length: 5', 'hello'), '417'],
  ['413 for chunks', (key: string) => requestOf(key, 'Transfer-Encoding: chunked', CHUNKS), '413'],
  [
    '401 for a body to be permitted',
    () => requestOf('', 'Expect: 100-continue\r\nContent-Length: 5', 'hello'),
    '401',
  ],
])(
  'a request after a response that closes the connection, %s, has no effect',
  async (_what, first, status) => {
    const server = await startServer()

    const said = await whatIsSaidTo(server.url, first(server.apiKey) + createOf(server))

    expect(said.match(/^HTTP\/1\.1 \d+/gm)).toEqual([`HTTP/1.1 ${status}`])
    expect(said.toLowerCase()).toContain('\r\nconnection: close\r\n')
    expect(await server.store.listServices(server.orgId)).toEqual([])
    await server.close()
  },
)

test('a server stops even after a connection with queued responses was lost', async () => {
  const server = await startServer({ rateLimit: 'none' })
  const call = { Http: { method: 'POST' as const, timeout: null, body: { value: 'x'.repeat(60_000) } } }
  const large = serviceBody({ endpoints: Array(15).fill(endpointBody({ call })) })
  await apiClient(server.url, server.apiKey).post('/v1/services', large)
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  // The client reads no response: together they exceed the buffers of the connection.
  const read = `GET /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`
  socket.write(read.repeat(50))
  await once(socket, 'readable')
  socket.resetAndDestroy()

  await expect(server.close()).resolves.toBeUndefined()
})
