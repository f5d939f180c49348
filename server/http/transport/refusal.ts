import { ApiError, codeOfStatus } from '../../../api/contract/apiError.ts'

/** A refusal in wire form. */
export interface Refusal {
  readonly status: number
  /** Name, value, name, value … */
  readonly headers: readonly string[]
  /** JSON object with the one field `error`. Contract: Errors. */
  readonly text: string
}

/** Texts for Fastify's refusals, whose own texts quote the request. Gap G11. */
const TEXT_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'bad request',
  404: 'not found',
  413: 'body is too large',
  415: 'content-type must be application/json in UTF-8',
}

/**
 * The answer to `error`: an ApiError has its own status, a refusal of Fastify's keeps its status, and everything else
 * is internal, without details. Contract: Errors. Pure.
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
  // HTTP only has whole seconds; the wait is at most 200 ms.
  if (code === 'rate_limited') return ['retry-after', '1']
  if (retryAfterSecs !== undefined) return ['retry-after', String(retryAfterSecs)]
  return []
}
