import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { startServer } from '../../testing/startServer.ts'

test('C199 a request in flight when the server stops gets its response, and no new one is accepted', async () => {
  const server = await startServer()
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
  const late = connect(port, '127.0.0.1')
  const [refusal] = await once(late, 'error')
  socket.write(body)
  await Promise.all([closed, once(socket, 'close'), once(idle, 'close')])

  expect(response).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
  expect(refusal).toMatchObject({ code: 'ECONNREFUSED' })
})
