import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parsedUrl } from '../../../api/contract/parsedUrl.ts'
import { ConfigError } from '../config/settings.ts'
import { bodyReader, type WithBody } from './bodies.ts'
import { type Route, type RouteAnswer, type RouteHead, refusal } from './route.ts'

/** Longest that a sender may take for the head of a request, and for all of it (milliseconds). */
const HEAD_MS_MAX = 10_000
const REQUEST_MS_MAX = 60_000
/** Most connections at a time. */
const CONNECTIONS_MAX = 256
/** Longest that answers on their way may take when the listener closes (milliseconds). */
const CLOSE_MS_MAX = 2_000
/** How often connections are looked over for those that take longer (milliseconds). */
const CONNECTIONS_LOOK_MS = 1_000

/** The controller's listener. */
export interface Listener {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Where to listen; port 0 is any free one. */
interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * Serves what `routes` gives at each request. `onFault` hears of errors that nobody foresaw. Throws ConfigError when
 * it cannot listen there.
 */
export async function listen(
  at: ListenAddress,
  routes: () => readonly Route[],
  onFault: (error: unknown) => void,
  withBody: WithBody = bodyReader(),
): Promise<Listener> {
  let isClosing = false
  const server = createServer(
    {
      headersTimeout: HEAD_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: CONNECTIONS_LOOK_MS,
      keepAliveTimeout: 5_000,
    },
    (incoming, outgoing) => {
      answerTo(incoming, routes(), withBody).then(
        (answer) => {
          // Nobody is to wait on this connection for an answer to another request.
          if (isClosing) outgoing.setHeader('Connection', 'close')
          write(incoming, outgoing, answer)
        },
        (error: unknown) => {
          if (incoming.destroyed && !incoming.complete) return
          onFault(error)
          write(incoming, outgoing, refusal(500, 'internal error'))
        },
      )
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(at, error)))
    server.listen(at.port, at.host, resolve)
  })
  // True because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  const host = at.host.includes(':') ? `[${at.host}]` : at.host
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        isClosing = true
        const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
      }),
  }
}

function cannotListen({ host, port }: ListenAddress, error: Error): ConfigError {
  const isTaken = 'code' in error && error.code === 'EADDRINUSE'
  const way = isTaken ? 'end what listens there, or name another port' : 'name another address'
  return new ConfigError(
    `the controller cannot listen on ${host}:${port} (${error.message}): ${way} in "listen"`,
  )
}

async function answerTo(
  incoming: IncomingMessage,
  routes: readonly Route[],
  withBody: WithBody,
): Promise<RouteAnswer> {
  const target = parsedUrl(incoming.url ?? '/', 'http://controller')
  if (target === undefined) return refusal(400, 'not an address')
  const { pathname, searchParams } = target
  const fitting = routes.flatMap((route) => {
    const params = paramsOf(route.path, pathname)
    return params === null ? [] : [{ route, params }]
  })
  const method = incoming.method === 'HEAD' ? 'GET' : incoming.method
  const chosen = fitting.find(({ route }) => route.method === method)
  if (chosen === undefined) {
    if (fitting.length === 0) return refusal(404, 'not found')
    return refusal(405, 'method not allowed', { Allow: fitting.map(({ route }) => route.method).join(', ') })
  }
  const { route, params } = chosen
  const address = incoming.socket.remoteAddress ?? ''
  const head: RouteHead = { params, query: searchParams, headers: incoming.headers, address }
  const refused = route.admit?.(head) ?? null
  if (refused !== null) return refused
  const { bodyBytesMax = 0 } = route
  if (bodyBytesMax === 0) return route.handle({ ...head, body: Buffer.of() })
  return withBody(incoming, bodyBytesMax, (body) => route.handle({ ...head, body }))
}

/** What the names in `pattern` stand for in `path`; null when it does not fit. Pure. */
function paramsOf(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? ''
    if (!segment.startsWith(':')) {
      if (segment !== text) return null
      continue
    }
    const decoded = decodedSegment(text)
    if (decoded === null || decoded === '') return null
    params[segment.slice(1)] = decoded
  }
  return params
}

function decodedSegment(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    // URIError, the only one there is: a percent sign that begins no character.
    return null
  }
}

function write(incoming: IncomingMessage, outgoing: ServerResponse, answer: RouteAnswer): void {
  if (outgoing.destroyed || outgoing.headersSent) return
  // What was not read would otherwise be taken for the next request.
  const isWhole = incoming.complete || incoming.headers['content-length'] === undefined
  outgoing.writeHead(answer.status, {
    'Content-Type': answer.type,
    'Content-Length': Buffer.byteLength(answer.body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...(isWhole && incoming.headers['transfer-encoding'] === undefined ? {} : { Connection: 'close' }),
    ...answer.headers,
  })
  outgoing.end(incoming.method === 'HEAD' ? '' : answer.body)
}
