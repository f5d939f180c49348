import type { Dispatcher } from 'undici'
import { ApiError, codeOfStatus } from '../contract/apiError.ts'

/** Longest answer that is read (bytes): far beyond a list of all services of any plan. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** Longest text of a refusal that is passed on (characters). */
const REFUSAL_CHARS_MAX = 500

/**
 * The request could not be completed. `outcome` says whether the server may have carried it out: `not-sent`
 * is certain (refused connection, unknown host), `unknown` is everything after the first byte left.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly outcome: 'not-sent' | 'unknown'

  constructor(message: string, outcome: 'not-sent' | 'unknown', options?: ErrorOptions) {
    super(message, options)
    this.outcome = outcome
  }
}

/** One request as it goes on the wire. `path` starts with /v1. */
export interface Attempt {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** An answer, whatever its status. `json` is `undefined` where the body is empty or no JSON. */
export interface Answer {
  readonly status: number
  readonly json: unknown
  readonly headers: Dispatcher.ResponseData['headers']
}

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Sends `attempt` once and reads the whole answer. Throws ConnectionError, or the signal's reason. */
export async function send(dispatcher: Dispatcher, origin: string, attempt: Attempt): Promise<Answer> {
  try {
    const response = await dispatcher.request({
      origin,
      path: attempt.path,
      method: attempt.method,
      headers: attempt.headers,
      body: attempt.body ?? null,
      ...(attempt.signal === undefined ? {} : { signal: attempt.signal }),
    })
    const text = await readText(response.body)
    return { status: response.statusCode, headers: response.headers, json: parseJson(text) }
  } catch (error) {
    if (attempt.signal?.aborted === true) throw attempt.signal.reason
    if (error instanceof ConnectionError) throw error
    throw connectionError(origin, error)
  }
}

async function readText(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) {
      throw new ConnectionError(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`, 'unknown')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
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
  const code = codeOf(cause)
  const outcome = code !== undefined && NEVER_SENT.has(code) ? 'not-sent' : 'unknown'
  const reason = code ?? (cause instanceof Error ? cause.message : 'no reason given')
  return new ConnectionError(`no answer from ${origin} (${reason})`, outcome, { cause })
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // A host with several addresses fails with one error for each of them.
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== undefined)
  return codeOf(error.cause)
}

/** The refusal that `answer` (status ≥ 400) carries; a body that is not the contract's is named by its status. */
export function refusalOf(answer: Answer): ApiError {
  const { json, status } = answer
  const text =
    typeof json === 'object' && json !== null && 'error' in json && typeof json.error === 'string'
      ? json.error
      : `the server answered ${status} without saying why`
  const printable = text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, REFUSAL_CHARS_MAX)
  return new ApiError(codeOfStatus(status), printable, { status })
}

/** Milliseconds that a 429 asks to wait; `undefined` when it does not say, or not in seconds. */
export function retryAfterMs(answer: Answer): number | undefined {
  const value = answer.headers['retry-after']
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
  return seconds === undefined ? undefined : seconds * 1_000
}

/** Whether the same request may well succeed a little later. Contract: Errors, 500 and 502. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'unknown'
  return error instanceof ApiError && error.status >= 500
}
