import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that was received. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Raw. */
  readonly body: string
}

/** A receiver of webhooks, for tests: a real server that keeps what it is sent. */
export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** The responses to the next requests, one each; afterwards 200. `hang` never responds, `reset` hangs up. */
  readonly responses: (
    | number
    | 'hang'
    | 'reset'
    | { readonly status: number; readonly headers: Record<string, string> }
  )[]
  /** Resolves when it has received `count` requests in all. */
  readonly until: (count: number) => Promise<void>
  readonly close: () => Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const responses: Receiver['responses'] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const next = responses.shift() ?? 200
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      })
      for (const wake of waiting) wake()
      if (next === 'hang') return
      if (next === 'reset') {
        request.socket.destroy()
        return
      }
      const { status, headers } = typeof next === 'number' ? { status: next, headers: {} } : next
      response.writeHead(status, headers).end(status < 300 ? 'ok' : 'no')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    responses,
    until: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (received.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
