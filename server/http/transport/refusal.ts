import { ApiError, codeOfStatus } from '../../../api/contract/apiError.ts'

/** A refusal in wire form. */
export interface Refusal {
  readonly status: number
  /** Name, value, name, value … */
  readonly headers: readonly string[]
  /** JSON object with the one field `error`. Contract: Errors. */
  readonly text: string
}

/** Texts that replace Fastify's own, which quote the request. Gap G11. */
const TEXT_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'bad request',
  404: 'not found',
  413: 'body is too large',
  415: 'content-type must be application/json in UTF-8',
}

/**
 * The response to `error`. An ApiError has its own status, and a Fastify error keeps its status. Any other error is
 * internal, without details. Contract: Errors. Pure.
 */
export function refusalOf(error: unknown): Refusal {
  const apiError = error instanceof ApiError ? error : translate(error)
  return {
    status: apiError.status,
    headers: headersOf(apiError),
    text: JSON.stringify({ error: apiError.message }),
  }
}

function translate(error: unknown): ApiError {
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
      ? error.statusCode
      : 500
  if (status < 400 || status >= 500) return new ApiError('internal', 'internal error')
  return new ApiError(codeOfStatus(status), TEXT_OF_STATUS[status] ?? 'bad request', { status })
}

function headersOf({ code, retryAfterSecs }: ApiError): readonly string[] {
  if (code === 'unauthorized') return ['www-authenticate', 'Bearer']
  // The wait is at most 200 ms, but HTTP has only whole seconds.
  if (code === 'rate_limited') return ['retry-after', '1']
  if (retryAfterSecs !== undefined) return ['retry-after', String(retryAfterSecs)]
  return []
}
