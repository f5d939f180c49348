import type { Dispatcher } from 'undici'
import { ApiError } from '../contract/apiError.ts'
import { codeOf, NotConnected } from './connection.ts'
import { SendAborted, sendGuard } from './sendGuard.ts'

/** Longest response that is read (bytes): far beyond a list of all services of any plan. */
export const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
/** Time limit for the body of a response (milliseconds), however steadily it trickles. */
const RESPONSE_MS_MAX = 120_000

/**
 * The request could not be completed. `outcome` says whether the server may have executed it: `not-sent` is certain
 * (there was no connection), `unknown` is everything after that. `hint` is a remedy, `undefined` where none is known; `isFinal` says that
 * another attempt does not help, as with an untrusted certificate.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly outcome: 'not-sent' | 'unknown'
  readonly hint: string | undefined
  readonly isFinal: boolean

  constructor(
    message: string,
    outcome: 'not-sent' | 'unknown',
    options: ErrorOptions & { readonly hint?: string | undefined; readonly isFinal?: boolean } = {},
  ) {
    super(message, options)
    this.outcome = outcome
    this.hint = options.hint
    this.isFinal = options.isFinal ?? false
  }
}

/** One request as it goes on the wire. `path` starts with /v1. */
export interface Attempt {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** A monotonic clock (milliseconds). */
  readonly nowMs: () => number
  /** Called when the request is about to be written to a connection; an error that it throws aborts the request. */
  readonly assertMaySend?: (() => void) | undefined
}

/** A response with any status. `json` is decoded on first use, and `undefined` when the body is empty or not JSON. */
export interface HttpResponse {
  readonly status: number
  readonly body: Buffer
  readonly json: unknown
  readonly headers: Dispatcher.ResponseData['headers']
}

/**
 * Sends `attempt` once and reads the whole response. Throws ConnectionError, the signal's reason, or what assertMaySend
 * throws.
 */
export async function send(dispatcher: Dispatcher, origin: string, attempt: Attempt): Promise<HttpResponse> {
  const { assertMaySend } = attempt
  try {
    const way = assertMaySend === undefined ? dispatcher : dispatcher.compose(sendGuard(assertMaySend))
    const response = await way.request({
      origin,
      path: attempt.path,
      method: attempt.method,
      headers: attempt.headers,
      body: attempt.body ?? null,
      ...(attempt.signal === undefined ? {} : { signal: attempt.signal }),
    })
    const { statusCode: status, headers } = response
    return responseOf(status, headers, await readBody(response.body, attempt.nowMs))
  } catch (error) {
    if (attempt.signal?.aborted === true) throw attempt.signal.reason
    if (error instanceof SendAborted) throw error.cause
    if (error instanceof ConnectionError) throw error
    throw connectionError(origin, error)
  }
}

function responseOf(status: number, headers: HttpResponse['headers'], body: Buffer): HttpResponse {
  let decoded: { readonly json: unknown } | undefined
  return {
    status,
    headers,
    body,
    get json() {
      decoded ??= { json: parseJson(body.toString('utf8')) }
      return decoded.json
    },
  }
}

async function readBody(body: Dispatcher.ResponseData['body'], nowMs: () => number): Promise<Buffer> {
  const startedAtMs = nowMs()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX) {
      throw new ConnectionError(`the response is larger than ${RESPONSE_BYTES_MAX} bytes`, 'unknown')
    }
    // A stalled response is ended by another timeout: here a chunk has just arrived.
    if (nowMs() - startedAtMs > RESPONSE_MS_MAX) {
      const message = `the response was not complete after ${RESPONSE_MS_MAX / 1_000} s`
      throw new ConnectionError(message, 'unknown')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An empty body, or a proxy's page: the status says what it means.
    return undefined
  }
}

function connectionError(origin: string, cause: unknown): ConnectionError {
  const isConnected = !(cause instanceof NotConnected)
  const reason =
    (isConnected ? codeOf(cause) : undefined) ?? (cause instanceof Error ? cause.message : 'no reason given')
  const message = `no response from ${origin} (${reason})`
  if (isConnected) return new ConnectionError(message, 'unknown', { cause })
  return new ConnectionError(message, 'not-sent', { cause, hint: cause.hint, isFinal: cause.isFinal })
}

/** Maximum wait that a 429 may ask for (milliseconds): after that the client tries again anyway. */
const RETRY_AFTER_MS_MAX = 60_000

/**
 * The wait that a 429 asks for (milliseconds), given in seconds or as an instant; `undefined` when it gives none. An
 * instant is compared with the response's own Date, and with `nowMs` (since the epoch) only when there is none: clocks
 * differ. Pure.
 */
export function retryAfterMs({ headers }: HttpResponse, nowMs: number): number | undefined {
  const value = headerOf(headers['retry-after'])
  if (value === undefined) return undefined
  const sentMs = Date.parse(headerOf(headers.date) ?? '')
  const waitMs = /^\d+$/.test(value)
    ? Number(value) * 1_000
    : Date.parse(value) - (Number.isNaN(sentMs) ? nowMs : sentMs)
  return Number.isNaN(waitMs) ? undefined : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, waitMs))
}

/** Number of requests that the server would still accept at once; `undefined` when it does not say (Gap G20). Pure. */
export function remainingRequests({ headers }: HttpResponse): number | undefined {
  const [, count] = /;\s*r=(\d{1,9})(?:;|$)/.exec(headerOf(headers.ratelimit) ?? '') ?? []
  return count === undefined ? undefined : Number(count)
}

function headerOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Whether the same request may succeed a little later. Contract: Errors, 500 and 502. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'unknown'
  return error instanceof ApiError && error.status >= 500
}
