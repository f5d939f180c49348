import type { Server, ServerResponse } from 'node:http'
import type { Server as TlsHttpServer } from 'node:https'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Metrics } from './metrics.ts'
import { openApi } from './openapi/openApi.ts'
import type { OpenApiDocument } from './openapi/reference/document.ts'
import { llmsText } from './openapi/reference/llmsText.ts'
import { REFERENCE_HEADERS, referencePage } from './openapi/reference/referencePage.ts'
import { JSON_TYPE } from './transport/response.ts'
import type { CertificateSource } from './transport/certificate.ts'
import { limitKeylessConnections } from '../../api/runtime/connectionLimits.ts'
import { plainServer } from './transport/plainServer.ts'
import { refusalOf } from './transport/refusal.ts'

/** Dependencies of the admin listener. */
export interface AdminParts {
  readonly metrics: Metrics
  /** Renders the last results of the monitored services that a query selects. Rejects with an ApiError. */
  readonly probes: (query: URLSearchParams) => Promise<string>
  /** Certificate for TLS; absent for a listener without TLS. */
  readonly tls?: CertificateSource | undefined
  /** Rejects when the server is not ready. The operator sees the text of an ApiError. */
  readonly probe: () => Promise<void>
}

/** Maximum number of connections. Probes and a scraper need a handful. */
const CONNECTIONS_MAX = 24
const HTML_TYPE = 'text/html; charset=utf-8'

/**
 * The operator's server, not yet listening. /healthz succeeds while the process runs, and /readyz after a durable
 * write. /metrics has the counters, /metrics/probes the last result of every series, and /docs, /openapi.json and
 * /llms.txt the reference of the API. It checks no keys, so it belongs on a separate address.
 */
export function buildAdminListener(parts: AdminParts): Server | TlsHttpServer {
  const server = plainServer(
    parts.tls,
    { requireHostHeader: false },
    {
      respond: (request, response) => respond(request.url ?? '', response, parts),
      refuse: (_request, response, error) => {
        const { status, text } = refusalOf(error)
        write(response, status, JSON_TYPE, text)
      },
    },
  )
  limitKeylessConnections(server, CONNECTIONS_MAX)
  return server
}

async function respond(
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
    const text = error instanceof ApiError ? error.message : 'the database cannot be written'
    throw new ApiError('unavailable', text, { cause: error })
  }
  ok(response, 'application/json', '{"status":"ready"}')
}

let reference: string | undefined

/** The reference page, rendered at its first request. */
function apiReference(): string {
  reference ??= referencePage(documentOf())
  return reference
}

/** The OpenAPI document, in the form that the reference takes. */
function documentOf(): OpenApiDocument {
  // True because a test verifies that every part of the document is on the page.
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
