import { Agent, request } from 'undici'
import { codeOf, connector } from '../../../api/client/connection.ts'
import type { HttpsProxy } from '../../../api/network/proxy.ts'
import { ProxyError } from '../../../api/network/proxyError.ts'

/** Time limit for a response (milliseconds). */
const RESPONSE_MS_MAX = 10_000
/** Largest response that is read (bytes): a page of a hundred long comments. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024
/** Maximum pause that a receiver may request (milliseconds). */
const RETRY_AFTER_MS_MAX = 5 * 60_000

/** A request to a receiver. Its address and headers are never printed, because they may contain secrets. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The response, of any status. */
export interface OutgoingResponse {
  readonly status: number
  readonly text: string
  /** Pause before another request (milliseconds); null when the receiver requests none. */
  readonly retryAfterMs: number | null
}

/** Sends a request once. Throws Unreachable. */
export type Send = (outgoing: OutgoingRequest, signal?: AbortSignal) => Promise<OutgoingResponse>

/** There was no response. The message has the reason, but not the address. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Sends over the network, through `proxy` if it applies. Redirects are not followed: the content is for no other host. */
export function sendOverHttp(nowMs: () => number, proxy: HttpsProxy | undefined): Send {
  const dispatcher = new Agent({ connect: connector({ proxy }) })
  return async ({ method, url, headers, body }, signal) => {
    try {
      const timeout = AbortSignal.timeout(RESPONSE_MS_MAX)
      const response = await request(url, {
        dispatcher,
        method,
        headers,
        body,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of response.body) {
        const buffer = Buffer.from(chunk)
        bytes += buffer.length
        if (bytes > RESPONSE_BYTES_MAX)
          throw new Unreachable(`the response is longer than ${RESPONSE_BYTES_MAX} bytes`)
        chunks.push(buffer)
      }
      const text = Buffer.concat(chunks).toString('utf8')
      return { status: response.statusCode, text, retryAfterMs: pauseAskedFor(response.headers, nowMs()) }
    } catch (error) {
      if (error instanceof Unreachable) throw error
      throw new Unreachable(reasonOf(error))
    }
  }
}

/** A code, a name or the refusal of a proxy; other network messages may contain the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no response'
  if (error.cause instanceof ProxyError) return error.cause.message
  return codeOf(error) ?? error.name
}

/** `Retry-After` in seconds or as a date, or the reset time of GitHub's rate limit. */
function pauseAskedFor(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | null {
  const { 'retry-after': after, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = headers
  const limited = remaining === '0' && typeof reset === 'string' ? Number(reset) * 1_000 - nowMs : null
  const ms =
    typeof after !== 'string'
      ? limited
      : /^\d+$/.test(after)
        ? Number(after) * 1_000
        : Date.parse(after) - nowMs
  if (ms === null || Number.isNaN(ms)) return null
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(0, ms))
}

/** Whether the same request may succeed later. Pure. */
export function isRetryable({ status, retryAfterMs }: OutgoingResponse): boolean {
  return (
    status >= 500 ||
    status === 408 ||
    status === 425 ||
    status === 429 ||
    (status === 403 && retryAfterMs !== null)
  )
}

/**
 * Pause after attempt `attempt`, from 1 (milliseconds): doubles up to five minutes, half of it random, or longer if the
 * response asked for it. A response that asks for none, or for an instant that has passed by the clock of this machine,
 * does not shorten it. Pure.
 */
export function retryPauseMs(attempt: number, retryAfterMs: number | null, random: () => number): number {
  const whole = Math.min(RETRY_AFTER_MS_MAX, 1_000 * 2 ** (attempt - 1))
  return Math.max(whole / 2 + (whole / 2) * random(), retryAfterMs ?? 0)
}
