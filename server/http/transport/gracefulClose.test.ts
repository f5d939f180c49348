import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { startServer } from '../../testing/startServer.ts'

test('C199 a request in flight when the server stops gets its response, and no new one is accepted', async () => {
  const server = await startServer({ status: {}, console: {} })
  const port = Number(new URL(server.url).port)
  const body = JSON.stringify(serviceBody())
  const socket = connect(port, '127.0.0.1')
  const idle = connect(port, '127.0.0.1')
  let response = ''
  socket.on('data', (chunk) => {
    response += chunk.toString()
  })
  // The 100 Continue shows that the request has reached the server.
  socket.write(
    `POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.apiKey}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await once(socket, 'data')

  const closed = server.close()
  const urls = [server.url, server.statusUrl, server.consoleUrl]
  const late = await Promise.all(urls.map((url) => codeOfConnection(Number(new URL(url).port))))
  socket.write(body)
  await Promise.all([closed, once(socket, 'close'), once(idle, 'close')])

  expect(response).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
  expect(late).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED'])
})

/** The code of the error of a connection to `port`; `undefined` when it is accepted. */
function codeOfConnection(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
  })
}
