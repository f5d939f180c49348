import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts a web server that the sample service checks, on any free port of 127.0.0.1. `POST /break` makes it respond
 * with 503, `POST /repair` with 200 again. Its `url` has no trailing slash.
 */
export async function startSampleTarget() {
  let isBroken = false
  const server = createServer((request, response) => {
    request.resume()
    if (request.method === 'POST') {
      if (request.url !== '/break' && request.url !== '/repair') {
        return response.writeHead(404).end('POST /break or /repair\n')
      }
      isBroken = request.url === '/break'
      return response.end(
        isBroken ? 'broken: GET / responds with 503 now\n' : 'repaired: GET / responds with 200 now\n',
      )
    }
    return response.writeHead(isBroken ? 503 : 200).end(isBroken ? 'broken\n' : 'ok\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: (): void => {
      server.close()
      server.closeAllConnections()
    },
  }
}
