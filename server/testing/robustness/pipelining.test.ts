import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { startServer } from '../startServer.ts'

const server = await startServer()
afterAll(() => server.close())

/** Number of responses to `requests`, which are sent at once on one connection. */
async function responseCountOf(requests: readonly string[]): Promise<number> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  socket.write(requests.join(''))
  await once(socket, 'close')
  return text.split('HTTP/1.1 ').length - 1
}

const READ = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
const LAST = READ.replace('Host: x\r\n', 'Host: x\r\nConnection: close\r\n')
const EXPECTING = READ.replace('Host: x\r\n', 'Host: x\r\nExpect: nothing\r\n')

test('a hundred pipelined requests on one connection all get a response', async () => {
  expect(await responseCountOf([...Array(99).fill(READ), LAST])).toBe(100)
})

test('a connection with more than a hundred pending responses is cut off, whatever the requests', async () => {
  expect(await responseCountOf([...Array(1_000).fill(READ), LAST])).toBeLessThan(1_000)
  expect(await responseCountOf([EXPECTING, ...Array(1_000).fill(READ), LAST])).toBeLessThan(1_000)
})
