import { connect } from 'node:net'

/**
 * A request over a separate connection, whose response is read to its end but not parsed: the minimum cost of a check.
 */
export function bareExchange(url: string): Promise<boolean> {
  const { hostname: host, port, pathname } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) })
    let bytes = 0
    socket.once('connect', () =>
      socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`),
    )
    socket.on('data', (part) => {
      bytes += part.length
    })
    socket.once('error', () => resolve(false))
    socket.once('end', () => resolve(bytes > 0))
  })
}
