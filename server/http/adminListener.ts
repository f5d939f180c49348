import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsHttpServer } from 'node:https'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Metrics } from './metrics.ts'
import { openApi } from './openapi/openApi.ts'
import type { OpenApiDocument } from './openapi/reference/document.ts'
import { llmsText } from './openapi/reference/llmsText.ts'
import { REFERENCE_HEADERS, referencePage } from './openapi/reference/referencePage.ts'
import { JSON_TYPE } from './transport/answer.ts'
import { type CertificateSource, followCertificate } from './transport/certificate.ts'
import { ADMIN_CONNECTIONS_MAX, limitConnections } from './transport/connectionLimits.ts'
import { refuseConnection, refuseTunnels } from './transport/connectionRefusals.ts'
import { refusalOf } from './transport/refusal.ts'
import { TIMEOUTS } from './transport/timeouts.ts'

/** Dependencies of the admin listener. */
export interface AdminParts {
  readonly metrics: Metrics
  /** The last results of monitored services that a query selects; rejects with an ApiError. */
  readonly probes: (query: URLSearchParams) => Promise<string>
  /** Absent for a listener without TLS. */
  readonly tls?: CertificateSource | undefined
  /** Rejects when the server is not ready; the text of an ApiError is for the operator. */
  readonly probe: () => Promise<void>
}

const HTML_TYPE = 'text/html; charset=utf-8'

/** Default: the timeouts of the API. */
const SERVER_OPTIONS = {
  requireHostHeader: false,
  headersTimeout: TIMEOUTS.headersMs,
  requestTimeout: TIMEOUTS.requestMs,
  connectionsCheckingInterval: TIMEOUTS.checkMs,
  handshakeTimeout: TIMEOUTS.headersMs,
}

/**
 * A listener for the operator, not yet listening: /healthz answers while the process runs, /readyz after a durable
 * write succeeded, /metrics with the counters,
 * /metrics/probes with the last result of every series, /docs, /openapi.json and /llms.txt with the reference of the API. It checks no keys and belongs on a separate address.
 */
export function buildAdminListener(parts: AdminParts): Server | TlsHttpServer {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request.url ?? '', response, parts).catch((error: unknown) => refuse(response, error))
  }
  const { tls } = parts
  const server =
    tls === undefined
      ? createServer(SERVER_OPTIONS, handle)
      : createTlsServer({ ...SERVER_OPTIONS, ...tls.current() }, handle)
  followCertificate(server, tls)
  // It checks no keys, so all connections are alike.
  limitConnections(server, {
    connectionsMax: ADMIN_CONNECTIONS_MAX * 2,
    isIdle: () => false,
    onEnd: () => {},
  })
  server.on('clientError', refuseConnection)
  refuseTunnels(server)
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, new ApiError('expectation_failed', 'expectation is not supported'))
  })
  return server
}

async function answer(
  url: string,
  response: ServerResponse,
  { metrics, probes, probe }: AdminParts,
): Promise<void> {
  const [path = '', query] = url.split('?', 2)
  if (path === '/healthz') return ok(response, 'application/json', '{"status":"ok"}')
  if (path === '/metrics') return ok(response, metrics.contentType, await metrics.render())
  if (path === '/metrics/probes') {
    return ok(response, metrics.contentType, await probes(new URLSearchParams(query)))
  }
  if (path === '/openapi.json') return ok(response, 'application/json', JSON.stringify(openApi()))
  if (path === '/llms.txt') return ok(response, 'text/plain; charset=utf-8', llmsText(documentOf()))
  if (path === '/docs') return ok(response, HTML_TYPE, apiReference(), REFERENCE_HEADERS)
  if (path !== '/readyz') throw new ApiError('not_found', 'not found')
  try {
    await probe()
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('unavailable', 'the database cannot be written', { cause: error })
  }
  ok(response, 'application/json', '{"status":"ready"}')
}

let reference: string | undefined

/** The page of the reference, made when it is first requested. */
function apiReference(): string {
  reference ??= referencePage(documentOf())
  return reference
}

/** The OpenAPI document, in the form of which the reference is made. */
function documentOf(): OpenApiDocument {
  // True because a test finds every part of the document on the page.
  return openApi() as unknown as OpenApiDocument
}

function ok(
  response: ServerResponse,
  contentType: string,
  text: string,
  more: Readonly<Record<string, string>> = {},
): void {
  write(response, 200, contentType, text, more)
}

function refuse(response: ServerResponse, error: unknown): void {
  const { status, text } = refusalOf(error)
  write(response, status, JSON_TYPE, text)
}

function write(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  more: Readonly<Record<string, string>> = {},
): void {
  const headers = { ...more, 'content-type': contentType, 'content-length': Buffer.byteLength(text) }
  response.writeHead(status, headers).end(text)
}
