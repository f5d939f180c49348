import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A target of checks that records its requests, and responds with `status`. */
export interface Target {
  readonly url: (path: string) => string
  /** Requests so far, by path. */
  readonly visits: (path: string) => readonly IncomingMessage[]
  /** Resolves after `count` requests for the path. */
  readonly visited: (path: string, count: number) => Promise<void>
  /** Status of its responses; `null` for no response until it ends. */
  status: number | null
  readonly close: () => void
}

/** Starts a target on 127.0.0.1. */
export async function startTarget(): Promise<Target> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    if (target.status !== null) response.writeHead(target.status).end('ok')
    server.emit('visit')
  })
  const visits = (path: string) => requests.filter(({ url }) => url === path)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  const target: Target = {
    status: 200,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    visits,
    visited: async (path, count) => {
      while (visits(path).length < count) await once(server, 'visit')
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return target
}
