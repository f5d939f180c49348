import { Agent, type Dispatcher } from 'undici'
import * as z from 'zod'
import { STATUS_OF_ERROR } from '../contract/apiError.ts'
import { isApiKey } from '../contract/apiKey.ts'
import { type Org, orgSchema, type Region, regionSchema } from '../contract/org.ts'
import { type ServiceRequest, type ServiceResponse, serviceResponseSchema } from '../contract/service.ts'
import {
  type Answer,
  type Attempt,
  ConnectionError,
  isPassing,
  refusalOf,
  retryAfterMs,
  send,
} from './attempt.ts'
import { firstProblem, readAnswer as read } from './contractAnswer.ts'
import { type ClientRequest, IncidentClient } from './incidentClient.ts'
import { agreedOrg, KeyRing, type RingKey } from './keyRing.ts'
import { type Lane, type Limiter, systemTiming, type Timing } from './limiter.ts'

/** How often a request that may be repeated is sent before its failure is passed on. */
export const ATTEMPTS_MAX = 5
/** First and longest pause between such attempts (milliseconds), before jitter. */
const BACKOFF_FIRST_MS = 200
const BACKOFF_LONGEST_MS = 5_000
/** Longest wait for the first and between two bytes of an answer (milliseconds). */
const SILENCE_MS_MAX = 30_000

/** One attempt as it went, for logs and counts: nothing of headers or bodies. `status` is 0 without an answer. */
export interface AttemptReport {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
}

export interface ClientOptions {
  /** Base URL without /v1, http or https. */
  readonly url: string
  readonly apiKey: string
  /** More keys of the same organisation: what each may spend adds up. */
  readonly moreApiKeys?: readonly string[]
  /** Product and version, for the server's log. */
  readonly userAgent: string
  /** Share one between all clients of the same key; a new one otherwise. */
  readonly limiter?: Limiter
  readonly timing?: Timing
  readonly onAttempt?: (report: AttemptReport) => void
}

export interface CallOptions {
  /** Ends every wait, and a read on its way. A change that has left is waited for all the same. */
  readonly signal?: AbortSignal | undefined
  readonly lane?: Lane
  /** Called whenever an attempt is about to leave, which it does when this resolves; what it throws is thrown. */
  readonly beforeSend?: () => Promise<void>
}

/** A listed service that could not be understood, such as one with a kind of assertion that is newer than we are. */
export interface UnreadableService {
  readonly id: string
  readonly problem: string
}

/** Answer of GET /v1/services: one service that cannot be read does not take the others with it. */
export interface ServiceList {
  readonly services: readonly ServiceResponse[]
  readonly unreadable: readonly UnreadableService[]
}

/** The operations that change nothing: what a plan may be given. */
export type ReadingClient = Pick<Client, 'getOrg' | 'listRegions' | 'listServices' | 'getService'>

/** The operations on services that a reconciler needs. */
export type ServiceClient = ReadingClient &
  Pick<Client, 'createService' | 'replaceService' | 'deleteService' | 'pauseService' | 'resumeService'>

/** What keeps `url` and `apiKey` from being used, as a sentence without the key; `undefined` when nothing does. Pure. */
export function clientProblem(url: string, apiKey: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    return 'the API URL must be an absolute http:// or https:// URL'
  }
  if (parsed.username !== '' || parsed.password !== '') return 'the API URL must not contain credentials'
  if (parsed.search !== '' || parsed.hash !== '') return 'the API URL must not have a query or a fragment'
  if (!isApiKey(apiKey)) return 'the API key must be pharos_ followed by 64 hexadecimal characters'
  return undefined
}

/**
 * The API as methods, one for each operation. Every attempt passes the limiter; a 429 is waited out until
 * the signal says stop; operations that may be repeated are, on 500, 502, 503, 504 and lost connections.
 * Methods throw ApiError for a refusal and ConnectionError for no answer.
 */
export class Client {
  /** The operations on incidents. */
  readonly incidents: IncidentClient
  readonly #origin: string
  readonly #basePath: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #ring: KeyRing
  readonly #timing: Timing
  readonly #dispatcher: Dispatcher
  readonly #onAttempt: (report: AttemptReport) => void

  /** Throws an Error with the text of `clientProblem` when URL or key cannot be used. */
  constructor(options: ClientOptions) {
    const apiKeys = [...new Set([options.apiKey, ...(options.moreApiKeys ?? [])])]
    for (const apiKey of apiKeys) {
      const problem = clientProblem(options.url, apiKey)
      if (problem !== undefined) throw new Error(problem)
    }
    const url = new URL(options.url)
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/+$/, '')
    this.#headers = {
      'user-agent': options.userAgent,
      accept: 'application/json',
    }
    this.#timing = options.timing ?? systemTiming
    this.#ring = new KeyRing(apiKeys, options.limiter, this.#timing)
    this.#onAttempt = options.onAttempt ?? (() => {})
    this.incidents = new IncidentClient({
      repeat: (request, callOptions) => this.#repeat(request, callOptions),
      once: (request, callOptions) => this.#once(request, callOptions),
    })
    this.#dispatcher = new Agent({
      connections: 16,
      headersTimeout: SILENCE_MS_MAX,
      bodyTimeout: SILENCE_MS_MAX,
      keepAliveTimeout: 10_000,
    })
  }

  /**
   * The organisation of the key, and the key's scope. With several keys each is asked, and what only reads is
   * the scope of all. Throws KeysDisagree when they belong to different organisations.
   */
  async getOrg(options: CallOptions = {}): Promise<Org> {
    const orgs = this.#ring.keys.map(async (key) =>
      read(orgSchema, await this.#repeat({ method: 'GET', path: '/v1/org' }, options, key)),
    )
    return agreedOrg(await Promise.all(orgs))
  }

  /** All regions from which services can be monitored. */
  async listRegions(options: CallOptions = {}): Promise<readonly Region[]> {
    return read(z.array(regionSchema), await this.#repeat({ method: 'GET', path: '/v1/regions' }, options))
  }

  /** All services of the organisation, in one request. */
  async listServices(options: CallOptions = {}): Promise<ServiceList> {
    const answer = await this.#repeat({ method: 'GET', path: '/v1/services' }, options)
    const items = read(z.array(z.object({ id: z.string() }).loose()), answer)
    const services: ServiceResponse[] = []
    const unreadable: UnreadableService[] = []
    for (const item of items) {
      const parsed = serviceResponseSchema.safeParse(item)
      if (parsed.success) services.push(parsed.data)
      else unreadable.push({ id: item.id, problem: firstProblem(parsed.error) })
    }
    return { services, unreadable }
  }

  /** One service; refused with `not_found` when the organisation has none of this id. */
  async getService(id: string, options: CallOptions = {}): Promise<ServiceResponse> {
    return read(serviceResponseSchema, await this.#repeat({ method: 'GET', path: servicePath(id) }, options))
  }

  /**
   * Creates a service, which is monitored at once. Sent again only when it certainly was not carried out (429,
   * no connection): a ConnectionError with an unknown outcome, or a 5xx, may have made the service. The
   * `idempotencyKey` lets a server that knows the header recognise the same creation.
   */
  async createService(
    request: ServiceRequest,
    idempotencyKey: string,
    options: CallOptions = {},
  ): Promise<ServiceResponse> {
    const attempt = { method: 'POST', path: '/v1/services', json: request, idempotencyKey } as const
    return read(serviceResponseSchema, await this.#once(attempt, options))
  }

  /** Replaces the whole definition: what `request` leaves out is reset. Contract: Rules, 1. */
  async replaceService(
    id: string,
    request: ServiceRequest,
    options: CallOptions = {},
  ): Promise<ServiceResponse> {
    const attempt = { method: 'PATCH', path: servicePath(id), json: request } as const
    return read(serviceResponseSchema, await this.#repeat(attempt, options))
  }

  /** Deletes a service for good. One that is already gone is refused with `not_found`. */
  async deleteService(id: string, options: CallOptions = {}): Promise<void> {
    await this.#repeat({ method: 'DELETE', path: servicePath(id) }, options)
  }

  /** Pauses a service; the answer is the paused service, also when it was paused before. */
  async pauseService(id: string, options: CallOptions = {}): Promise<ServiceResponse> {
    const attempt = { method: 'POST', path: `${servicePath(id)}/pause` } as const
    return read(serviceResponseSchema, await this.#repeat(attempt, options))
  }

  /** Resumes a service; refused with `forbidden` when the plan no longer allows it. */
  async resumeService(id: string, options: CallOptions = {}): Promise<ServiceResponse> {
    const attempt = { method: 'POST', path: `${servicePath(id)}/resume` } as const
    return read(serviceResponseSchema, await this.#repeat(attempt, options))
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#dispatcher.close()
  }

  async #repeat(request: ClientRequest, options: CallOptions, only?: RingKey): Promise<Answer> {
    for (let attemptNumber = 1; ; attemptNumber += 1) {
      try {
        return await this.#once(request, options, only)
      } catch (error) {
        if (attemptNumber === ATTEMPTS_MAX || !isPassing(error)) throw error
        const ceilingMs = Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** attemptNumber)
        await this.#sleep(ceilingMs * (0.5 + this.#timing.random() / 2), options.signal)
      }
    }
  }

  /** Sends until the answer is no 429 and a connection was had; every attempt passes the limiter. */
  async #once(request: ClientRequest, options: CallOptions, only?: RingKey): Promise<Answer> {
    for (let refusedConnections = 0; ; ) {
      const key = await this.#ring.pass(options.lane ?? 'in-order', options.signal, only)
      await options.beforeSend?.()
      try {
        const answer = await this.#attempt(request, key.apiKey, options.signal)
        if (answer.status === STATUS_OF_ERROR.rate_limited) {
          key.limiter.refused(retryAfterMs(answer))
          continue
        }
        key.limiter.accepted()
        if (answer.status >= 400) throw refusalOf(answer)
        return answer
      } catch (error) {
        const neverSent = error instanceof ConnectionError && error.outcome === 'not-sent'
        refusedConnections += 1
        if (!neverSent || refusedConnections === ATTEMPTS_MAX) throw error
        await this.#sleep(BACKOFF_FIRST_MS * 2 ** refusedConnections, options.signal)
      }
    }
  }

  async #attempt(request: ClientRequest, apiKey: string, signal: AbortSignal | undefined): Promise<Answer> {
    const startedAtMs = this.#timing.nowMs()
    let status = 0
    try {
      const answer = await send(this.#dispatcher, this.#origin, this.#onTheWire(request, apiKey, signal))
      status = answer.status
      return answer
    } finally {
      const durationMs = this.#timing.nowMs() - startedAtMs
      this.#onAttempt({ method: request.method, path: request.path, status, durationMs })
    }
  }

  #onTheWire(request: ClientRequest, apiKey: string, signal: AbortSignal | undefined): Attempt {
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, ...this.#headers }
    if (request.json !== undefined) {
      headers['content-type'] = 'application/json'
      // A field that we spell wrong is an error rather than silently ignored.
      headers.prefer = 'handling=strict'
    }
    if (request.idempotencyKey !== undefined) headers['idempotency-key'] = request.idempotencyKey
    return {
      method: request.method,
      path: `${this.#basePath}${request.path}`,
      headers,
      body: request.json === undefined ? undefined : JSON.stringify(request.json),
      // A change that has left is waited for: whoever gave up on it would not know what it made.
      signal: request.method === 'GET' ? signal : undefined,
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

function servicePath(id: string): string {
  return `/v1/services/${encodeURIComponent(id)}`
}
