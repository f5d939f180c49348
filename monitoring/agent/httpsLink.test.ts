import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { httpsLink } from './httpsLink.ts'
import { IDLE_SYNC } from './testing/idleSync.ts'

test('a server that does not serve agents is reported as the wrong port', async () => {
  const api = createServer((_, response) => response.writeHead(404).end('{"error":"not found"}'))
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  // True because the server listens on TCP.
  const { port } = api.address() as AddressInfo
  const link = httpsLink({ server: new URL(`http://127.0.0.1:${port}`), token: 'x' })

  await expect(link.sync('', IDLE_SYNC, new AbortController().signal)).rejects.toThrow(
    'the server responded with 404: not found; --server must name its --agent-port',
  )

  link.close()
  api.close()
})
