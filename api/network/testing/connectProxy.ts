import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'

/** A proxy that asks for a password, and the only one that knows the names of its network. */
export interface ConnectProxy {
  /** host:port */
  readonly address: string
  /** `host:port` of each connection that it was asked for. */
  readonly asked: readonly string[]
  readonly close: () => Promise<void>
}

/** How a proxy responds that does not connect. */
export type Refusal = (socket: Duplex) => void

/**
 * Starts a proxy. `login` is `user:password`. It connects each name to the port of this machine that `ports` has for
 * it, and responds with 403 for other names, or everything as `refusal` says.
 */
export async function startConnectProxy(
  login: string,
  ports: Readonly<Record<string, number>>,
  refusal?: Refusal,
): Promise<ConnectProxy> {
  const asked: string[] = []
  const sockets = new Set<Duplex>()
  const expected = `Basic ${Buffer.from(login).toString('base64')}`
  const server = createServer((_request, response) => response.writeHead(400).end())
  const track = (socket: Duplex): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Duplex, head: Buffer) => {
    asked.push(url)
    track(client)
    if (refusal !== undefined) return refusal(client)
    if (headers['proxy-authorization'] !== expected) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="a"\r\n\r\n')
      return
    }
    const port = ports[url.replace(/:\d+$/, '')]
    if (port === undefined) {
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(client).pipe(upstream)
    })
    track(upstream)
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because it listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
