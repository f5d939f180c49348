import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Caller } from '../domain/apiKeys.ts'
import type { Admission } from '../store/store.ts'
import { admit } from './admission.ts'
import { openApi } from './openapi/openApi.ts'
import { type ResponseParts, addOperation } from './operationRoute.ts'
import { allowedMethods, isUnderApi, OPERATIONS, pathOf } from './operations/apiRoutes.ts'
import type { ApiParts } from './operations/operation.ts'
import { notFound } from './operations/resourceId.ts'
import { rateLimitHeaders } from './rateLimit.ts'
import { type HeaderList, writeResponse, writeLastResponse } from './transport/response.ts'
import type { ResponseBudget } from './transport/responseBudget.ts'
import type { CertificateSource } from './transport/certificate.ts'
import {
  type ConnectionBounds,
  type ConnectionLimits,
  limitConnections,
} from '../../api/runtime/connectionLimits.ts'
import { handleExpectations, assertHost, permitBody, refuseTunnels } from './transport/connectionRefusals.ts'
import { eventLoopTurns } from './transport/eventLoopTurns.ts'
import { watchResponses } from './transport/gracefulClose.ts'
import { BODY_BYTES_MAX } from './transport/jsonBody.ts'
import { listeningWith } from './transport/listeningWith.ts'
import { refusalOf } from './transport/refusal.ts'
import type { Timeouts } from './transport/timeouts.ts'
import { dropBody, hasIdleBody, willBeCut } from './transport/unreadBody.ts'

/** Maximum length of a path parameter. A path with a longer one is unknown. */
const PARAMETER_CHARS_MAX = 4_096

/** A completed request for metrics and logs, without query, headers or body. */
export interface RequestRecord {
  readonly requestId: string
  readonly method: string
  /** The route's pattern; `unknown` for unknown paths, which would otherwise add an unlimited number of series. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly caller: Caller | null
  /** The client address, or that of the proxy. */
  readonly address: string
  /** The User-Agent header. */
  readonly userAgent?: string | undefined
  /** The internal error behind a status of 500 or an interrupted long response; absent otherwise. */
  readonly failure?: unknown
}

/** Dependencies of the HTTP application. */
export interface AppParts extends ApiParts {
  /** Certificate for TLS; absent for a listener without TLS. */
  readonly tls?: CertificateSource | undefined
  readonly admission: Admission
  readonly onRequestDone: (record: RequestRecord) => void
  /** Maximum number of open connections. */
  readonly connectionsMax: number
  readonly onConnectionEnded: ConnectionBounds['onEnd']
  readonly timeouts: Timeouts
  /** Memory for all responses in progress. */
  readonly budget: ResponseBudget
  /** Memory for all bodies being read. */
  readonly bodies: ResponseBudget
}

/** The state of a request before its operation runs. */
interface Progress {
  /** Start of the request by a monotonic clock (milliseconds). */
  readonly startedAtMs: number
  /** Headers of every response. */
  readonly headers: HeaderList
  caller: Caller | null
  failure: unknown
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook; `null` before it. */
    progress: Progress | null
  }
}

/**
 * The API on Fastify, not yet listening. Every response with a status of 400 or more has only the contract's field
 * `error`.
 */
export function buildApp(parts: AppParts): FastifyInstance {
  const { timeouts, budget, bodies } = parts
  const receive = receiver(parts, (socket, keyId) => connections.assignKey(socket, keyId))
  const app = bareApp(parts, async (request, reply) => {
    // A path that cannot be decoded counts as unknown, but only for admitted requests (Gap G19).
    try {
      await receive(request, reply)
      throw notFound()
    } catch (error) {
      refuse(request, reply, error)
    }
  })
  const { server } = app
  const responses = watchResponses(server)
  const { connectionsMax, onConnectionEnded: onEnd } = parts
  const connections = limitConnections(server, { connectionsMax, isIdle: responses.isIdle, onEnd })
  handleExpectations(server, responses)
  refuseTunnels(server)
  app.addHook('preClose', responses.stop)

  app.decorateRequest('progress', null)
  const keepUntaken = ({ raw }: FastifyReply): void => {
    const bytes = raw.writableLength
    if (bytes === 0) return
    const { release } = budget.keepSmall(raw, bytes)
    responses.whenClosed(raw, release)
  }
  const done = reporter(parts)
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const { status, headers, text } = refusalOf(error)
    const known = request.progress
    if (status >= 500 && known !== null) known.failure = error
    const allHeaders = [...(known?.headers ?? []), ...headers]
    dropBody(request.raw)
    const isCut = willBeCut(request.raw, status)
    // `connection` is set here only when the body was not permitted.
    if (isCut || reply.raw.hasHeader('connection')) responses.announceEnd(reply.raw)
    if (isCut) writeLastResponse(request, reply, { status, headers: allHeaders, text })
    else writeResponse(reply, status, allHeaders, text)
    keepUntaken(reply)
    done(request, status)
  }

  app.addHook('onRequest', receive)
  app.setErrorHandler((error, request, reply) => refuse(request, reply, error))
  app.setNotFoundHandler((request, reply) => refuse(request, reply, notFound()))
  keepBodies(app)
  addOpenApi(app, done, keepUntaken)
  const { mibMs } = timeouts
  const turnsOf = eventLoopTurns()
  const responseParts: ResponseParts = { done, keepUntaken, responses, budget, bodies, turnsOf, mibMs }
  for (const operation of OPERATIONS) addOperation(app, operation, parts, responseParts)
  return app
}

/** Fastify without routes. `undecodable` handles a request whose path cannot be decoded. */
function bareApp(
  { tls, timeouts }: Pick<AppParts, 'tls' | 'timeouts'>,
  undecodable: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): FastifyInstance {
  const app = listeningWith(tls, timeouts, {
    http: { requireHostHeader: false },
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX },
    genReqId: () => randomUUID(),
    frameworkErrors: (_error, request, reply) => undecodable(request, reply),
  })
  // By default Node silently drops headers after the thousandth, which may be a precondition. The size of the headers
  // is limited anyway.
  app.server.maxHeadersCount = 0
  return app
}

/** Reports a request whose response was passed to the socket. */
type Done = (request: FastifyRequest, status: number) => void

/**
 * Reports when the response is passed to the socket: a hook that waits for its last byte costs as much as handling a
 * read.
 */
function reporter({ onRequestDone }: AppParts): Done {
  return (request, status) => {
    const { caller = null, failure, startedAtMs } = request.progress ?? {}
    const durationMs = startedAtMs === undefined ? 0 : performance.now() - startedAtMs
    onRequestDone({
      requestId: request.id,
      method: request.method,
      route: request.routeOptions?.url ?? 'unknown',
      status,
      durationMs,
      caller,
      // Cached for each connection, because it takes a system call.
      address: status >= 400 ? (request.raw.socket.remoteAddress ?? '') : '',
      userAgent: request.headers['user-agent'],
      ...(failure === undefined ? {} : { failure }),
    })
  }
}

/** Steps 1 to 7 of the order of checks (Gap G19), run first for each request. */
function receiver(parts: AppParts, identify: ConnectionLimits['assignKey']) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const headers = [
      'x-request-id',
      request.id,
      'cache-control',
      'no-store',
      'x-content-type-options',
      'nosniff',
    ]
    const known: Progress = { startedAtMs: performance.now(), headers, caller: null, failure: undefined }
    request.progress = known
    assertHost(request.raw)
    if (hasIdleBody(request.raw)) dropBody(request.raw)
    // A path with another spelling (%76 for v) can still match a route under /v1.
    const route = request.routeOptions?.url
    if (!isUnderApi(route ?? pathOf(request.raw.url))) {
      if (route === undefined) throw notFound()
      return
    }
    await admit(
      {
        method: request.method,
        rawHeaders: request.raw.rawHeaders,
        connection: request.raw.socket,
        onCaller: (caller) => {
          known.caller = caller
          identify(request.raw.socket, caller.keyId)
        },
        onAllowance: (allowance) => headers.push(...rateLimitHeaders(allowance)),
      },
      parts.admission,
    )
    if (route === undefined) throw refuseRoute(request, headers)
    if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) {
      throw new ApiError('too_large', 'body is too large')
    }
    permitBody(request.raw, reply.raw)
  }
}

function refuseRoute(request: FastifyRequest, headers: HeaderList): ApiError {
  const allowed = allowedMethods(pathOf(request.raw.url))
  // The method is allowed but there is no route, so the router does not accept the id, which belongs to nothing.
  if (allowed === undefined || allowed.split(', ').includes(request.method)) return notFound()
  headers.push('allow', allowed)
  return new ApiError('method_not_allowed', 'method not allowed')
}

/** Keeps bodies as bytes: if a parser refused one here, Fastify would close the connection. */
function keepBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Declared separately, because Fastify repeats the lookup for each request that only the fallback handles.
  app.addContentTypeParser(
    ['application/json', '*'],
    { parseAs: 'buffer' },
    (_request: FastifyRequest, bytes: Buffer, done) => done(null, bytes),
  )
}

/** Adds the OpenAPI document outside /v1, so that tools can read it without a key. */
function addOpenApi(app: FastifyInstance, done: Done, keepUntaken: (reply: FastifyReply) => void): void {
  // As bytes, so that all waiting responses share one copy.
  let text: Buffer | undefined
  app.get('/openapi.json', (request, reply) => {
    text ??= Buffer.from(JSON.stringify(openApi()))
    writeResponse(reply, 200, request.progress?.headers ?? [], text)
    keepUntaken(reply)
    done(request, 200)
  })
}
