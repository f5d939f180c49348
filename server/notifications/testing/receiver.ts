import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Interval between checks for a delivery (milliseconds). */
const POLL_MS = 10

/** A received delivery. */
export interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The response of a receiver: status and headers, or none. */
export type ReceiverResponse =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | 'none'

/** A receiver of webhooks on loopback. */
export interface Receiver {
  readonly url: string
  /** In order of arrival. */
  readonly received: readonly Received[]
  /** Resolves to the first `count` when they have arrived. */
  readonly first: (count: number) => Promise<readonly Received[]>
  readonly close: () => void
}

/** Starts a receiver that responds to each delivery with the result of `respond`; with 204 when absent. */
export async function startReceiver(
  respond: (delivery: Received) => ReceiverResponse = () => ({ status: 204 }),
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const delivery = { id: String(request.headers['webhook-id']), headers: request.headers, body }
      received.push(delivery)
      const chosen = respond(delivery)
      if (chosen !== 'none') response.writeHead(chosen.status, chosen.headers).end('secret of the receiver')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    first: async (count) => {
      while (received.length < count) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      return received.slice(0, count)
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
