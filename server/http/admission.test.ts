import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { serviceBody } from '../testing/serviceBodies.ts'
import { startServer } from '../testing/startServer.ts'

test('a request whose key is revoked before the body arrives has no effect', async () => {
  const server = await startServer()
  const body = JSON.stringify(serviceBody())
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  let said = ''
  socket.on('data', (chunk) => {
    said += chunk.toString()
  })
  socket.write(
    `POST /v1/services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.apiKey}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  // The 100 Continue shows that the key was accepted.
  await once(socket, 'data')

  const [key] = await server.store.listKeys(server.orgId)
  await server.store.revokeKey({ id: key?.id ?? '', by: { kind: 'cli' }, nowMs: 0 })
  socket.write(body)
  await once(socket, 'data')

  expect(said).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 Unauthorized\r\n/)
  expect(await server.store.listServices(server.orgId)).toEqual([])
  socket.destroy()
  await server.close()
})
