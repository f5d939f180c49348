import { EventEmitter, once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import {
  RESULTS_PATH,
  type ResultsResponse,
  type ResultsRequest,
  type SyncRequest,
} from '../../monitoring/protocol/messages.ts'

/** A batch of results that the server acknowledged. */
export interface TakenBatch {
  readonly request: ResultsRequest
  readonly response: ResultsResponse
  /** Time of the acknowledgement (milliseconds since the epoch). */
  readonly atMs: number
}

/** A proxy between agents and a server that records messages, and can cut the connection. */
export interface AgentProxy {
  readonly url: string
  /** Acknowledged batches, in order. */
  readonly taken: readonly TakenBatch[]
  /** The last sync of each instance. */
  readonly syncs: ReadonlyMap<string, SyncRequest>
  /** Resolves when the next batch is sent to the server, or acknowledged. */
  readonly next: (event: 'sent' | 'taken') => Promise<ResultsRequest>
  /** Ends all connections, including new ones, until `mend`. */
  readonly cut: () => void
  readonly restore: () => void
  readonly close: () => void
}

/** Starts a proxy to the address that `upstream` returns for each request. */
export async function startAgentProxy(upstream: () => string): Promise<AgentProxy> {
  const taken: TakenBatch[] = []
  const syncs = new Map<string, SyncRequest>()
  const events = new EventEmitter()
  events.setMaxListeners(0)
  const sockets = new Set<Socket>()
  let isCut = false

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(request)
    const message = JSON.parse(
      (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString(),
    )
    const isResults = request.url === RESULTS_PATH
    if (!isResults) syncs.set(message.instance, message)
    // Responses must be readable here.
    const headers = { ...request.headers, 'accept-encoding': 'identity' }
    const passed = httpRequest(`${upstream()}${request.url}`, { method: 'POST', headers, agent: false })
    response.on('close', () => passed.destroy())
    const arrival = once(passed, 'response')
    passed.end(body)
    if (isResults) passed.once('finish', () => events.emit('sent', message))
    // True because the event is emitted with this value.
    const [upstreamResponse] = (await arrival) as [IncomingMessage]
    const text = await bytesOf(upstreamResponse)
    if (isResults && upstreamResponse.statusCode === 200) {
      taken.push({ request: message, response: JSON.parse(text.toString()), atMs: Date.now() })
      events.emit('taken', message)
    }
    response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers).end(text)
  }

  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket: Socket) => {
    if (isCut) return void socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  const end = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    taken,
    syncs,
    next: async (event) => (await once(events, event))[0],
    cut: () => {
      isCut = true
      end()
    },
    restore: () => {
      isCut = false
    },
    close: () => {
      server.close()
      end()
    },
  }
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks)
}
