import { Agent, type Dispatcher } from 'undici'
import { ApiError, STATUS_OF_ERROR } from '../contract/apiError.ts'
import { SOURCE_HEADER, writeChangeSource } from '../contract/changeSource.ts'
import type { Outgoing } from '../network/outgoing.ts'
import {
  type Attempt,
  ConnectionError,
  type HttpResponse,
  isRetryable,
  remainingRequests,
  retryAfterMs,
  send,
} from './attempt.ts'
import { connector } from './connection.ts'
import { refusalOf } from './contractResponse.ts'
import { KeyRing, type RingKey } from './keyRing.ts'
import { systemTiming, type Timing } from './limiter.ts'
import type { AttemptReport, CallOptions, ClientOptions, ClientRequest, RetryReport } from './request.ts'
import { WaitObserver } from './waiting.ts'

/** Number of attempts of a repeatable request before its failure is passed on. */
export const ATTEMPTS_MAX = 5
/** First and longest pause between such attempts (milliseconds), before jitter. */
const BACKOFF_FIRST_MS = 200
const BACKOFF_LONGEST_MS = 5_000
/** Maximum wait for the first and between two bytes of a response (milliseconds). */
const SILENCE_MS_MAX = 30_000

/** The reason for the wait after a 429. */
const TOO_MANY = 'the API responded with 429: another client sends with the same key'

/**
 * Sends requests with the key that can send soonest, behind the limiter, and again where that is right. Both ways of
 * sending throw ApiError for a refusal, ConnectionError for no response and UnreadableResponse for one that is not the
 * API's.
 */
export class Sender {
  readonly #url: string
  readonly #origin: string
  readonly #basePath: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #ring: KeyRing
  readonly #timing: Timing
  readonly #dateMs: () => number
  readonly #outgoing: Outgoing
  #dispatcher: Dispatcher | undefined
  readonly #endReads: AbortSignal | undefined
  readonly #endWaits: () => AbortSignal | undefined
  readonly #observer: WaitObserver
  readonly #onAttempt: (report: AttemptReport) => void
  readonly #onRetry: (report: RetryReport) => void

  constructor(options: Omit<ClientOptions, 'apiKey' | 'moreApiKeys'>, apiKeys: readonly string[]) {
    const url = new URL(options.url)
    this.#url = options.url
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/+$/, '')
    this.#headers = { 'user-agent': options.userAgent, accept: 'application/json' }
    this.#timing = options.timing ?? systemTiming
    this.#dateMs = options.dateMs ?? Date.now
    this.#ring = new KeyRing(apiKeys, options.limiter, this.#timing, options.rate)
    this.#endReads = options.endReads
    this.#endWaits = options.endWaits ?? (() => undefined)
    this.#observer = options.observer ?? new WaitObserver(this.#timing.nowMs)
    this.#onAttempt = options.onAttempt ?? (() => {})
    this.#onRetry = options.onRetry ?? (() => {})
    this.#outgoing = options.outgoing ?? {}
  }

  /** The keys for requests. */
  get keys(): readonly RingKey[] {
    return this.#ring.keys
  }

  /** The connections. The first call loads the HTTP library, which takes some milliseconds. */
  connections(): Dispatcher {
    this.#dispatcher ??= new Agent({
      connections: 16,
      connect: connector(this.#outgoing),
      headersTimeout: SILENCE_MS_MAX,
      bodyTimeout: SILENCE_MS_MAX,
      keepAliveTimeout: 10_000,
    })
    return this.#dispatcher
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#dispatcher?.close()
  }

  /** Sends a request that may be executed twice: again after 500, 502, 503, 504 and lost connections. */
  repeat(request: ClientRequest, call: CallOptions, only?: RingKey): Promise<HttpResponse> {
    const options = request.method === 'GET' ? { ...call, signal: call.signal ?? this.#endReads } : call
    return this.#observer.during(() => this.#repeat(request, this.#bounded(options), only))
  }

  /** Sends until there was a connection and the response is not 429; every attempt passes the limiter. */
  once(request: ClientRequest, options: CallOptions, only?: RingKey): Promise<HttpResponse> {
    return this.#observer.during(() => this.#once(request, this.#bounded(options), only))
  }

  #bounded(options: CallOptions): CallOptions {
    const signals = [options.signal, this.#endWaits()].filter((signal) => signal !== undefined)
    return signals.length < 2
      ? { ...options, signal: signals[0] }
      : { ...options, signal: AbortSignal.any(signals) }
  }

  async #repeat(request: ClientRequest, options: CallOptions, only?: RingKey): Promise<HttpResponse> {
    for (let attemptNumber = 1; ; attemptNumber += 1) {
      try {
        return await this.#once(request, options, only)
      } catch (error) {
        if (attemptNumber === ATTEMPTS_MAX || !isRetryable(error)) throw error
        const ceilingMs = Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** attemptNumber)
        await this.#waitAfter(error, ceilingMs * (0.5 + this.#timing.random() / 2), options.signal)
      }
    }
  }

  async #once(request: ClientRequest, options: CallOptions, only?: RingKey): Promise<HttpResponse> {
    for (let refusedConnections = 0; ; ) {
      const key = await this.#ring.pass(options.lane ?? 'in-order', options.signal, only)
      try {
        const response = await this.#attempt(request, key, options)
        if (response.status === STATUS_OF_ERROR.rate_limited) {
          key.limiter.refused(retryAfterMs(response, this.#dateMs()))
          this.#observer.failed('throttled', TOO_MANY)
          this.#onRetry({ reason: TOO_MANY, delayMs: key.limiter.expectedWaitMs })
          continue
        }
        key.limiter.accepted(remainingRequests(response))
        if (response.status < 500) this.#observer.responded()
        if (response.status >= 300) throw refusalOf(response, request, this.#url)
        return response
      } catch (error) {
        const mayConnectLater =
          error instanceof ConnectionError && error.outcome === 'not-sent' && !error.isFinal
        refusedConnections += 1
        if (!mayConnectLater || refusedConnections === ATTEMPTS_MAX) throw error
        await this.#waitAfter(error, BACKOFF_FIRST_MS * 2 ** refusedConnections, options.signal)
      }
    }
  }

  async #waitAfter(error: unknown, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    const reason =
      error instanceof ApiError
        ? `the API responded with ${error.status}`
        : error instanceof Error
          ? error.message
          : ''
    this.#observer.failed('failing', reason)
    this.#onRetry({ reason, delayMs })
    await this.#sleep(delayMs, signal)
  }

  /** One attempt with the turn that `key` has just given. */
  async #attempt(request: ClientRequest, key: RingKey, options: CallOptions): Promise<HttpResponse> {
    try {
      await options.beforeSend?.()
      return await this.#reported(request, key.apiKey, options)
    } finally {
      key.limiter.ended()
    }
  }

  async #reported(request: ClientRequest, apiKey: string, options: CallOptions): Promise<HttpResponse> {
    const startedAtMs = this.#timing.nowMs()
    let status = 0
    try {
      const response = await send(this.connections(), this.#origin, this.#onTheWire(request, apiKey, options))
      status = response.status
      return response
    } finally {
      const durationMs = this.#timing.nowMs() - startedAtMs
      this.#onAttempt({ method: request.method, path: request.path, status, durationMs })
    }
  }

  #onTheWire(
    request: ClientRequest,
    apiKey: string,
    { signal, assertMaySend, source }: CallOptions,
  ): Attempt {
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, ...this.#headers }
    if (request.json !== undefined) {
      headers['content-type'] = 'application/json'
      // A misspelt field of ours is an error rather than silently ignored.
      headers.prefer = 'handling=strict'
    }
    const origin = source === undefined ? undefined : writeChangeSource(source)
    if (origin !== undefined) headers[SOURCE_HEADER] = origin
    if (request.idempotencyKey !== undefined) headers['idempotency-key'] = request.idempotencyKey
    return {
      method: request.method,
      path: `${this.#basePath}${request.path}`,
      headers,
      body: request.json === undefined ? undefined : JSON.stringify(request.json),
      // Wait for a change in flight: a caller that abandoned it would not know its result.
      signal: request.method === 'GET' ? signal : undefined,
      nowMs: this.#timing.nowMs,
      assertMaySend,
    }
  }

  #sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const abort = (): void => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = this.#timing.after(delayMs, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}
