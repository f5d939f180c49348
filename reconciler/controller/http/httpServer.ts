import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type HTTPMethods,
} from 'fastify'
import { limitKeylessConnections } from '../../../api/runtime/connectionLimits.ts'
import { codeOf } from '../../../api/runtime/errorCode.ts'
import { html } from '../../../web/html.ts'
import { ConfigError } from '../config/configError.ts'
import { limitLargeBodies } from './largeBodies.ts'
import { Refusal } from './refusal.ts'

/** Maximum of concurrent connections. A new one closes the oldest one, so that silent ones exclude no others. */
const CONNECTIONS_MAX = 256
/** Default of the largest body (bytes). */
const BODY_BYTES_MAX = 16 * 1024
/** Time that responses in progress get when the server closes (milliseconds). */
const CLOSE_MS_MAX = 2_000

/** Time limits of requests (milliseconds). */
export interface HttpTimeouts {
  /** For a whole request, head and body. Git hosts abort a delivery after ten seconds. */
  readonly requestMs: number
  /** Time between two checks for connections beyond that. */
  readonly checkMs: number
}

const TIMEOUTS: HttpTimeouts = { requestMs: 10_000, checkMs: 1_000 }

/** Headers of responses, unless a route sets others. */
const DEFAULT_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** The controller's HTTP server. */
export interface HttpServer {
  readonly url: string
  readonly close: () => Promise<void>
}

/**
 * Serves the routes that `addRoutes` adds. Every refusal is `{"error": "…"}`, or a page for a browser. Unexpected
 * errors are passed to `onFault` and get status 500. Port 0 selects a free port. Throws ConfigError when it cannot
 * listen.
 */
export async function startHttpServer(
  at: { readonly host: string; readonly port: number },
  addRoutes: (app: FastifyInstance) => void,
  onFault: (error: unknown) => void,
  timeouts: HttpTimeouts = TIMEOUTS,
): Promise<HttpServer> {
  const app = appWith(timeouts, onFault)
  addRoutesWithMethods(app, addRoutes)
  try {
    await app.listen(at)
  } catch (error) {
    await app.close()
    throw cannotListen(at, error)
  }
  // True because a server that listens on TCP has an address with a port, and HTTP/2 is off.
  const server = app.server as Server
  const { port } = server.address() as AddressInfo
  const host = at.host.includes(':') ? `[${at.host}]` : at.host
  return {
    url: `http://${host}:${port}`,
    close: async () => {
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX)
      await app.close()
      clearTimeout(cut)
    },
  }
}

function appWith({ requestMs, checkMs }: HttpTimeouts, onFault: (error: unknown) => void): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: requestMs,
    keepAliveTimeout: 5_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: requestMs, connectionsCheckingInterval: checkMs },
    frameworkErrors: (_error, request, reply) => {
      // No route has a path that cannot be decoded.
      sendRefusal(request, reply, new Refusal(404, 'not found'))
    },
  })
  limitKeylessConnections(app.server, CONNECTIONS_MAX)
  app.removeAllContentTypeParsers()
  // Signatures cover the raw bytes, whatever their content type.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
  limitLargeBodies(app)
  app.setReplySerializer((payload) => `${JSON.stringify(payload)}\n`)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(DEFAULT_HEADERS)
  })
  app.addHook('onSend', async ({ raw }, reply) => {
    // The connection is closed instead of reading the rest of the body.
    const hasBody =
      raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    if (hasBody && !raw.complete) reply.header('Connection', 'close')
  })
  app.setNotFoundHandler((request, reply) => sendRefusal(request, reply, new Refusal(404, 'not found')))
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Refusal) return sendRefusal(request, reply, error)
    const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
    if (status === 413)
      return sendRefusal(
        request,
        reply,
        new Refusal(413, `more than ${request.routeOptions.bodyLimit} bytes`),
      )
    if (typeof status === 'number' && status < 500)
      return sendRefusal(request, reply, new Refusal(status, 'not a valid HTTP request'))
    onFault(error)
    return sendRefusal(request, reply, new Refusal(500, 'internal error'))
  })
  return app
}

/** Sets all headers and serializes itself, because neither hooks nor serializers run for a path that cannot be decoded. */
function sendRefusal(
  { url, headers: { accept } }: FastifyRequest,
  reply: FastifyReply,
  { statusCode, headers, message }: Refusal,
): FastifyReply {
  // Only browsers name HTML.
  const isBrowser = accept?.includes('text/html') === true
  const type = isBrowser ? HTML_HEADERS : { 'Content-Type': 'application/json; charset=utf-8' }
  return reply
    .code(statusCode)
    .headers({ ...DEFAULT_HEADERS, ...type, ...headers })
    .send(isBrowser ? refusalPage(url, message) : `${JSON.stringify({ error: message })}\n`)
}

const HTML_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** A page with the reason of a refusal, and a relative link to the first page: a proxy may serve it below any path. */
function refusalPage(url: string, message: string): string {
  const depth = (url.split('?', 1)[0] ?? '').split('/').length - 2
  const root = depth <= 0 ? './' : '../'.repeat(depth)
  const sentence = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`
  return `<!doctype html>\n${html`<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${sentence} · Pharos</title></head>
<body><main><h1>${sentence}</h1>
<p><a href="${root}">All sets</a></p></main></body></html>`}\n`
}

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Adds routes, and for each path the response 405 to every other method. */
function addRoutesWithMethods(app: FastifyInstance, addRoutes: (app: FastifyInstance) => void): void {
  const methodsByPath = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methodsByPath.set(url, [...(methodsByPath.get(url) ?? []), ...[method].flat()])
  })
  addRoutes(app)
  for (const [url, allowed] of [...methodsByPath]) {
    const refuse = async (): Promise<never> => {
      throw new Refusal(405, 'method not allowed', { Allow: allowed.join(', ') })
    }
    const others = METHODS.filter((method) => !allowed.includes(method))
    app.route({ method: others, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse })
  }
}

function cannotListen({ host, port }: { host: string; port: number }, error: unknown): ConfigError {
  const message = error instanceof Error ? error.message : String(error)
  const isTaken = codeOf(error) === 'EADDRINUSE'
  const advice = isTaken
    ? 'stop the program that listens there, or name another port'
    : 'name another address'
  return new ConfigError(
    `the controller cannot listen on ${host}:${port} (${message}): ${advice} in "listen"`,
  )
}
