import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { memoised } from '../../web/memoised.ts'
import { isKnown, serveAssets } from '../http/pages/assets.ts'
import { browserApp } from '../http/pages/browserApp.ts'
import type { CertificateSource } from '../http/transport/certificate.ts'
import { ResponseCache, type CachedResponse, ENCODINGS, type Encoding, encodingOf } from './responseCache.ts'
import { responseHeaders, messageHeaders } from './responseHeaders.ts'
import { stateBadge } from './formats/stateBadge.ts'
import { ASSETS } from './pages/assets.ts'
import { messagePage } from './pages/messagePage.ts'
import type { ResponseKind } from './renderResponse.ts'
import { placeOf, type Target, targetOf } from './target.ts'
import { PageViews, type ViewSources } from './view/pageViews.ts'

/** Dependencies of the listener. */
export interface StatusParts extends ViewSources {
  /** Origin of the pages; `undefined` when they are only reached by their slugs, on any host. */
  readonly statusUrl: string | undefined
  readonly connectionsMax: number
  /** Absent for a listener without TLS. */
  readonly tls?: CertificateSource | undefined
  /** Called with the error of a 503 response. */
  readonly onError: (error: unknown) => void
}

/**
 * The public status pages on Fastify, not yet listening: only GET and HEAD. It uses no cookies, and shares only the
 * database with the API.
 */
export function buildStatusListener(parts: StatusParts): FastifyInstance {
  const views = new PageViews(parts)
  const cache = new ResponseCache(parts, views)
  const isSecure = parts.tls !== undefined || parts.statusUrl?.startsWith('https:') === true
  const ofMessages = messageHeaders(isSecure)
  const message = memoised(messagePage)
  const say = (reply: FastifyReply, status: number, text: string): FastifyReply =>
    reply.code(status).headers(ofMessages).send(message(text))
  const app = browserApp(
    parts.connectionsMax,
    (reply) => say(reply, 400, 'The request is malformed'),
    parts.tls,
  )
  app.addHook('onClose', async () => views.stop())
  app.addHook('onRequest', (request, reply, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next()
    reply.header('allow', 'GET, HEAD').header('connection', 'close')
    say(reply, 405, 'Only GET and HEAD are supported')
  })
  serveAssets(app, ASSETS.files, isSecure, (_request, reply) => say(reply, 404, 'There is no such file'))
  const headers = headersByForm(isSecure)
  const ownHost = parts.statusUrl === undefined ? undefined : placeOf(undefined, parts.statusUrl).host
  const requestOf = memoised(
    (line: string): { boundHost: string | undefined; target: Target | undefined } => {
      // Neither a header nor a request target contains a line feed.
      const [hostHeader, requestTarget = ''] = line.split('\n')
      const { host, url } = placeOf(hostHeader, requestTarget)
      const boundHost = ownHost === undefined || host === ownHost ? undefined : host
      return { boundHost, target: targetOf({ boundHost, url }) }
    },
  )
  const encodingAccepted = memoised(encodingOf)
  app.get('/*', (request, reply) => {
    const { host = '', 'accept-encoding': accepted = '' } = request.headers
    const { boundHost, target } = requestOf(`${host}\n${request.url}`)
    const encoding = encodingAccepted(accepted)
    const current = target === undefined ? undefined : cache.current(target, encoding)
    // Without a promise, which would double the cost.
    if (current !== undefined) return void send(request, reply, { response: current, encoding, headers })
    return respondLater(request, reply, { target, encoding, boundHost })
  })
  /** Reads or renders the response first. */
  async function respondLater(
    request: FastifyRequest,
    reply: FastifyReply,
    { target, encoding, boundHost }: PageRequest,
  ): Promise<FastifyReply> {
    const response = target === undefined ? undefined : await cache.get(target, encoding)
    if (response !== undefined) return send(request, reply, { response, encoding, headers })
    if (boundHost !== undefined && (await views.read({ kind: 'host', host: boundHost })) === undefined) {
      return say(reply, 421, 'This host has no status page')
    }
    return refuse(reply, target)
  }
  /** Refuses a request without a result. A badge is embedded in other sites, so its 404 is a badge too. */
  function refuse(reply: FastifyReply, target: Target | undefined): FastifyReply {
    if (target?.resource.kind !== 'badge') return say(reply, 404, 'There is no such page')
    const headers = responseHeaders({ kind: 'badge', encoding: 'identity', isSecure })
    return reply
      .code(404)
      .headers({ ...headers, 'cache-control': 'no-store' })
      .send(stateBadge('status', undefined, target.theme))
  }
  app.setNotFoundHandler((_request, reply) => say(reply, 404, 'There is no such page'))
  app.setErrorHandler((error, _request, reply) => {
    parts.onError(error)
    return say(reply.header('retry-after', '5'), 503, 'The status page cannot be shown at present')
  })
  return app
}

interface PageRequest {
  readonly target: Target | undefined
  readonly encoding: Encoding
  readonly boundHost: string | undefined
}

type HeadersByForm = Readonly<Record<ResponseKind, Readonly<Record<Encoding, Record<string, string>>>>>

function headersByForm(isSecure: boolean): HeadersByForm {
  const ofKind = (kind: ResponseKind) =>
    Object.fromEntries(ENCODINGS.map((encoding) => [encoding, responseHeaders({ kind, encoding, isSecure })]))
  // True because each kind and each encoding is a key.
  return {
    html: ofKind('html'),
    atom: ofKind('atom'),
    json: ofKind('json'),
    badge: ofKind('badge'),
  } as HeadersByForm
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    response,
    encoding,
    headers,
  }: { readonly response: CachedResponse; readonly encoding: Encoding; readonly headers: HeadersByForm },
): FastifyReply {
  const { kind, etag, bodies } = response
  reply.headers(headers[kind][encoding]).header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.send(bodies.get(encoding))
}
