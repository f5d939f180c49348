import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { rawExchange } from '../rawExchange.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

// Longer than a busy machine takes for a regular request, which must not be cut off.
const server = await startServer({
  rateLimit: 'none',
  timeouts: { requestMs: 3_000, headersMs: 2_000, keepAliveMs: 3_000, checkMs: 50 },
})
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

const HEAD = `POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.apiKey}\r\n`
const TIMEOUT = '{"error":"request took too long"}'

test.concurrent.each([
  ['that sends nothing'],
  ['that stops in its first line', 'GET /v1/'],
  ['that stops in its headers', HEAD],
  ['that stops before its body', `${HEAD}Content-Length: 10\r\n\r\n`],
  ['that stops in its body', `${HEAD}Content-Length: 10\r\n\r\n{`],
  ['that stops in a chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\nff\r\n{`],
])('a sender %s gets 408 and is cut off', async (_what, ...parts) => {
  const response = await rawExchange(server.url, ...parts)

  expect([response.status, response.text, response.headers.connection]).toEqual([408, TIMEOUT, 'close'])
})

test.concurrent('a sender that drips its body is cut off, however steadily it drips', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  let response = ''
  socket.on('data', (bytes) => {
    response += bytes.toString()
  })
  socket.on('error', () => {})
  socket.write(`${HEAD}Content-Length: 1000000\r\n\r\n`)

  const dripping = setInterval(() => socket.write(' '), 20)
  await once(socket, 'close')
  clearInterval(dripping)

  expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(response.endsWith(TIMEOUT)).toBe(true)
})

test.concurrent('two hundred half-open requests are all cut off, and others get responses meanwhile and afterwards', async () => {
  const halfOpen = Promise.all(
    Array.from({ length: 200 }, () => rawExchange(server.url, `${HEAD}Content-Length: 10\r\n\r\n{`)),
  )
  let isOver = false
  const over = halfOpen.finally(() => {
    isOver = true
  })

  const meanwhile: ApiResponse[] = []
  while (!isOver) {
    meanwhile.push(await api.post('/v1/incidents', {}), await api.get('/v1/org'))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const cut = await over
  const after = await api.post('/v1/services', serviceBody())

  expect(new Set(cut.map(({ status }) => status))).toEqual(new Set([408]))
  expect(new Set(meanwhile.map(({ status }) => status))).toEqual(new Set([400, 200]))
  expect(after.status).toBe(201)
  expect((await api.get('/v1/services')).json).toHaveLength(1)
})

test.concurrent('a connection that is kept open and not used is closed', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write(`GET /v1/org HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.apiKey}\r\n\r\n`)
  const [response]: unknown[] = await once(socket, 'data')
  await once(socket, 'close')

  expect(String(response)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})
