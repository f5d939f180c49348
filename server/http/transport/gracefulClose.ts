import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsHttpServer } from 'node:https'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { connectionEvent } from '../../../api/runtime/connectionLimits.ts'

/**
 * Maximum number of unread responses on one connection. A few bytes of request produce some kilobytes of response, and
 * a client that never reads needs no key for that.
 */
const RESPONSES_WAITING_MAX = 100

/** Resolves after all data that had already arrived on any connection has been read. */
async function oneLook(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

/** The responses of a server that are in progress. */
export interface Responses {
  /** Whether a connection has no response in progress. */
  readonly isIdle: (socket: Socket) => boolean
  /**
   * Stops the server gracefully: accepts no new connections, and resolves when every started response has been sent.
   */
  readonly stop: () => Promise<void>
  /** Makes `response`, whose head has not been sent, the last one of its connection. */
  readonly announceEnd: (response: ServerResponse) => void
  /**
   * Whether an earlier response is the last of the same connection. Requests after it get no response and must have no
   * effect (RFC 9112, 9.6).
   */
  readonly comesTooLate: (response: ServerResponse) => boolean
  /** Calls `listener` when `response` has been sent or abandoned, immediately if it already has. */
  readonly whenClosed: (response: ServerResponse, listener: () => void) => void
}

/**
 * Responses in the order of their requests, with their connections. Node takes the socket from a request whose body was
 * not read to its end.
 */
type UnderWay = ReadonlyMap<ServerResponse, Socket>

/** Tracks the last response of each connection. */
function lastResponses(underWay: UnderWay): Pick<Responses, 'announceEnd' | 'comesTooLate'> {
  const lastOf = new WeakMap<Socket, ServerResponse>()
  /** Whether the request of `one` came before that of `other`, which has no complete response yet. */
  const isBefore = (one: ServerResponse, other: ServerResponse): boolean => {
    if (!underWay.has(other)) return false
    for (const response of underWay.keys()) {
      if (response === one || response === other) return response === one
    }
    return false
  }
  const announceEnd: Responses['announceEnd'] = (response) => {
    response.setHeader('connection', 'close')
    const socket = underWay.get(response)
    if (socket === undefined) return
    const known = lastOf.get(socket)
    if (known === undefined || isBefore(response, known)) lastOf.set(socket, response)
  }
  const comesTooLate: Responses['comesTooLate'] = (response) => {
    const socket = underWay.get(response)
    const last = socket === undefined ? undefined : lastOf.get(socket)
    return last !== undefined && last !== response && !isBefore(response, last)
  }
  return { announceEnd, comesTooLate }
}

/**
 * Watches the responses of `server`, because closing it outright would end connections whose response was written but
 * not yet sent. Closes a connection with more than `waitingMax` unread responses.
 */
export function watchResponses(
  server: Server | TlsHttpServer,
  waitingMax: number = RESPONSES_WAITING_MAX,
): Responses {
  const underWay = new Map<ServerResponse, Socket>()
  let isStopping = false
  let whenEmpty: () => void = () => {}
  const counts = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number): number => {
    const now = (counts.get(socket) ?? 0) + change
    counts.set(socket, now)
    return now
  }
  const closeListeners = new WeakMap<ServerResponse, () => void>()
  // One listener for all responses, because a closure for each would cost every request.
  function forget(this: ServerResponse): void {
    const socket = underWay.get(this)
    if (socket !== undefined) count(socket, -1)
    underWay.delete(this)
    closeListeners.get(this)?.()
    closeListeners.delete(this)
    if (underWay.size === 0) whenEmpty()
  }
  // On a lost connection, a response queued behind another gets no close event.
  server.on(connectionEvent(server), (socket: Socket) => {
    socket.once('close', () => {
      for (const [response, own] of underWay) if (own === socket) forget.call(response)
    })
  })
  const { announceEnd, comesTooLate } = lastResponses(underWay)
  const begin = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    underWay.set(response, socket)
    // Asks the client not to send another request to a stopping server.
    if (isStopping) announceEnd(response)
    response.on('close', forget)
  }
  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (count(socket, 1) > waitingMax) socket.destroy()
    // Requests that were read together with the last one still arrive here, and are dropped.
    if (socket.destroyed) return
    begin(request, response)
    for (const handler of handlers) Reflect.apply(handler, server, [request, response])
  })
  server.prependListener('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    count(request.socket, 1)
    begin(request, response)
  })
  const stop = async (): Promise<void> => {
    isStopping = true
    // An HTTP server's own close ends idle connections immediately. The close of its base class only stops listening.
    NetServer.prototype.close.call(server)
    const newest = new Map([...underWay].map(([response, socket]) => [socket, response]))
    for (const response of newest.values()) {
      if (!response.headersSent) announceEnd(response)
    }
    do {
      if (underWay.size > 0) {
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
      }
      // The buffer of a connection that seems idle may already contain a request, which one turn of the event loop
      // reveals.
      await oneLook()
    } while (underWay.size > 0)
    // The remaining connections have not sent a request yet. Node does not count them as idle.
    server.closeAllConnections()
  }
  const whenClosed: Responses['whenClosed'] = (response, listener) => {
    if (underWay.has(response)) closeListeners.set(response, listener)
    else listener()
  }
  const isIdle = (socket: Socket): boolean => (counts.get(socket) ?? 0) === 0
  return { isIdle, stop, announceEnd, comesTooLate, whenClosed }
}
