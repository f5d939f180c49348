import { createServer, type Server, type ServerResponse } from 'node:http'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Metrics } from './metrics.ts'
import { refusalOf } from './refusal.ts'

/** What the admin listener shows. */
export interface AdminParts {
  readonly metrics: Metrics
  /** Rejects when the server cannot do its work; the text of an ApiError is for the operator. */
  readonly probe: () => Promise<void>
}

/**
 * A listener for the operator, not yet listening: /healthz says that the process answers, /readyz that a
 * durable write works, /metrics what was counted. It knows no keys and belongs on an address of its own.
 */
export function buildAdminListener({ metrics, probe }: AdminParts): Server {
  return createServer((request, response) => {
    const path = request.url?.split('?', 1)[0]
    answer(path, response, metrics, probe).catch((error: unknown) => refuse(response, error))
  })
}

async function answer(
  path: string | undefined,
  response: ServerResponse,
  metrics: Metrics,
  probe: AdminParts['probe'],
): Promise<void> {
  if (path === '/healthz') return ok(response, 'application/json', '{"status":"ok"}')
  if (path === '/metrics') return ok(response, metrics.contentType, await metrics.render())
  if (path !== '/readyz') throw new ApiError('not_found', 'not found')
  try {
    await probe()
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('unavailable', 'the database cannot be written', { cause: error })
  }
  ok(response, 'application/json', '{"status":"ready"}')
}

function ok(response: ServerResponse, contentType: string, text: string): void {
  response.writeHead(200, { 'content-type': contentType }).end(text)
}

function refuse(response: ServerResponse, error: unknown): void {
  const { status, text } = refusalOf(error)
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(text)
}
