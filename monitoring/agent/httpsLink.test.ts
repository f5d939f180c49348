import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { httpsLink } from './httpsLink.ts'
import { IDLE_SYNC } from './testing/idleSync.ts'

test.each<[string, string, RequestListener]>([
  [
    'does not serve agents',
    'the server responded with 404: not found; --server must name its --agent-port',
    (_, response) => response.writeHead(404).end('{"error":"not found"}'),
  ],
  [
    'switches protocols',
    'the server responded with 101: --server must name its --agent-port',
    (_, response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end(),
  ],
])('a server that %s is reported as the wrong port', async (_what, reason, listener) => {
  const api = createServer(listener).listen(0, '127.0.0.1')
  await once(api, 'listening')
  // True because the server listens on TCP.
  const { port } = api.address() as AddressInfo
  const link = httpsLink({ server: new URL(`http://127.0.0.1:${port}`), token: 'x' })

  await expect(link.sync('', IDLE_SYNC, new AbortController().signal)).rejects.toThrow(reason)

  link.close()
  api.close()
})
