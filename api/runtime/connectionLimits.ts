import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsHttpServer } from 'node:https'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

/**
 * Maximum number of unread responses on a connection of a server that checks no keys. Its clients wait for a response
 * before the next request, which may arrive before Node reports the response as sent.
 */
const UNREAD_RESPONSES_MAX = 2

/** Number of open TLS connections, including handshakes, for each counted connection. */
const TLS_SHARE = 1.25

/** The bounds of a server's connections. */
export interface ConnectionBounds {
  /** Maximum number of open connections. Half of them may be without a valid key, and half may have the same key. */
  readonly connectionsMax: number
  /** Whether a connection has no request in progress. */
  readonly isIdle: (socket: Socket) => boolean
  /** Called for each connection closed to make room, with its address, and the id of its key if any. */
  readonly onEnd: (ended: { readonly address: string; readonly keyId: string | undefined }) => void
}

/** The connections of a server. */
export interface ConnectionLimits {
  /** Records that `socket` received a request with a valid key of this id. */
  readonly assignKey: (socket: Socket, keyId: string) => void
}

/** The event with the socket of a server's requests; with TLS, the one after the handshake. */
export function connectionEvent(server: Server | TlsHttpServer): 'connection' | 'secureConnection' {
  return server instanceof TlsServer ? 'secureConnection' : 'connection'
}

interface Counted {
  readonly address: string
  /** `undefined` until a request has a valid key. */
  keyId: string | undefined
}

/** Sets by name, each in the order of arrival; none is empty. */
class Groups {
  readonly #sets = new Map<string, Set<Socket>>()
  size = 0

  add(name: string, socket: Socket): void {
    const known = this.#sets.get(name)
    if (known === undefined) this.#sets.set(name, new Set([socket]))
    else known.add(socket)
    this.size += 1
  }

  delete(name: string, socket: Socket): void {
    const known = this.#sets.get(name)
    if (known?.delete(socket) !== true) return
    this.size -= 1
    if (known.size === 0) this.#sets.delete(name)
  }

  of(name: string): ReadonlySet<Socket> {
    return this.#sets.get(name) ?? NONE
  }

  /**
   * The oldest member of the largest set. Scans all sets, because keeping them in order would slow down every newcomer.
   */
  oldestOfLargest(): Socket | undefined {
    let largest = NONE
    for (const group of this.#sets.values()) if (group.size > largest.size) largest = group
    return largest.values().next().value
  }

  /** The sets, largest first; of equal ones the oldest first. */
  bySize(): readonly ReadonlySet<Socket>[] {
    return [...this.#sets.values()].sort((one, other) => other.size - one.size)
  }
}

const NONE: ReadonlySet<Socket> = new Set()

/**
 * Keeps the connections of `server` within bounds by closing old ones, so that a new one always has a place. The first
 * to close are those without a valid key, from the address with the most of them; then idle ones of the key with the
 * most. A client that opens silent or slow connections displaces only other such clients. Behind a proxy all come from
 * one address, so the oldest without a key is closed. Gap G44.
 */
export function limitConnections(server: Server | TlsHttpServer, bounds: ConnectionBounds): ConnectionLimits {
  const { connectionsMax, isIdle, onEnd } = bounds
  const shareMax = Math.max(1, Math.floor(connectionsMax / 2))
  const counted = new Map<Socket, Counted>()
  const strangers = new Groups()
  const keyed = new Groups()

  const forget = (socket: Socket): void => {
    const known = counted.get(socket)
    if (known === undefined) return
    counted.delete(socket)
    if (known.keyId === undefined) strangers.delete(known.address, socket)
    else keyed.delete(known.keyId, socket)
  }
  const end = (socket: Socket): void => {
    const known = counted.get(socket)
    forget(socket)
    socket.destroy()
    if (known !== undefined) onEnd(known)
  }
  const oldestIdle = (): Socket | undefined => {
    for (const group of keyed.bySize()) for (const socket of group) if (isIdle(socket)) return socket
    return undefined
  }

  // Connections are counted after their handshake. Those that never finish it get the rest.
  if (server instanceof TlsServer) server.maxConnections ??= Math.ceil(connectionsMax * TLS_SHARE)
  server.on(connectionEvent(server), (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const isFull = counted.size >= connectionsMax
    if (strangers.size >= shareMax || (isFull && strangers.size > 0)) endSome(strangers.oldestOfLargest())
    else if (isFull) endSome(oldestIdle())
    counted.set(socket, { address, keyId: undefined })
    strangers.add(address, socket)
    socket.once('close', () => forget(socket))
    // All connections have requests in progress, so the new client must retry.
    if (counted.size > connectionsMax) end(socket)
  })
  const endSome = (socket: Socket | undefined): void => {
    if (socket !== undefined) end(socket)
  }

  const identify: ConnectionLimits['assignKey'] = (socket, keyId) => {
    const known = counted.get(socket)
    if (known === undefined || known.keyId === keyId) return
    forget(socket)
    counted.set(socket, { ...known, keyId })
    keyed.add(keyId, socket)
    const own = keyed.of(keyId)
    if (own.size <= shareMax) return
    end([...own].find((each) => each !== socket && isIdle(each)) ?? [...own][0] ?? socket)
  }
  return { assignKey: identify }
}

/**
 * Keeps `server`, which checks no keys, at `connectionsMax` connections: a new one closes the oldest one of the address
 * with the most. Closes a connection with more than two unread responses. Call it after the handlers of requests are
 * added.
 */
export function limitKeylessConnections(server: Server | TlsHttpServer, connectionsMax: number): void {
  // Connections without a key get half.
  limitConnections(server, { connectionsMax: 2 * connectionsMax, isIdle: () => false, onEnd: () => {} })
  limitUnreadResponses(server, UNREAD_RESPONSES_MAX)
}

/** Node handles all requests that it reads at once, so thousands of responses would fill the heap. */
function limitUnreadResponses(server: Server | TlsHttpServer, unreadMax: number): void {
  const counts = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number): number => {
    const now = (counts.get(socket) ?? 0) + change
    counts.set(socket, now)
    return now
  }
  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (count(socket, 1) > unreadMax) socket.destroy()
    // Requests that were read together with the last one still arrive here, and are dropped.
    if (socket.destroyed) return
    response.once('close', () => count(socket, -1))
    for (const handler of handlers) Reflect.apply(handler, server, [request, response])
  })
}
