import type { IncidentRequest, IncidentUpdateRequest } from '../contract/incident.ts'
import type { ChangeSource } from '../contract/changeSource.ts'
import type { ServiceRequest } from '../contract/service.ts'
import type { Answer, Attempt } from './attempt.ts'
import type { Lane, Limiter, Timing } from './limiter.ts'
import type { WaitObserver } from './waiting.ts'

/** Settings of a client. */
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
  /** Milliseconds since the epoch, for answers that name an instant. */
  readonly dateMs?: () => number
  /** Ends reads, also those on their way, and what they wait for. Changes are not affected. */
  readonly endReads?: AbortSignal
  /**
   * The signal that ends, from now on, reads and every wait of a change for its turn; asked for at each call. A change
   * that has left is waited for all the same, so that a creation that is rejected with the reason of this signal never left;
   * a change that is repeated may have, in an earlier attempt.
   */
  readonly endWaits?: () => AbortSignal | undefined
  /** Knows what the client waits for; share one between clients that are reported together. */
  readonly observer?: WaitObserver
  readonly onAttempt?: (report: AttemptReport) => void
  /** Called when a request has failed and is about to wait before it is sent again. */
  readonly onRetry?: (report: RetryReport) => void
}

/** Settings of one call. */
export interface CallOptions {
  /** Ends every wait, and a read on its way. A change that has left is waited for all the same. */
  readonly signal?: AbortSignal | undefined
  readonly lane?: Lane
  /** Where the change comes from, for the history of its service. */
  readonly source?: Partial<ChangeSource>
  /** Called whenever an attempt is about to leave, which it does when this resolves; what it throws is thrown. */
  readonly beforeSend?: () => Promise<void>
  /** Called when an attempt is about to be written to a connection; what it throws keeps it here and is thrown. */
  readonly mayLeave?: () => void
}

/** A request before it is given the client's headers. */
export interface ClientRequest {
  readonly method: Attempt['method']
  readonly path: string
  readonly json?: ServiceRequest | IncidentRequest | IncidentUpdateRequest
  readonly idempotencyKey?: string
}

/** How requests leave: `repeat` for those that may be sent again, `once` for those that may not. */
export interface Sending {
  readonly repeat: (request: ClientRequest, options: CallOptions) => Promise<Answer>
  readonly once: (request: ClientRequest, options: CallOptions) => Promise<Answer>
}

/** One attempt as it went, for logs and counts: nothing of headers or bodies. `status` is 0 without an answer. */
export interface AttemptReport {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
}

/** A request that failed and is sent again. */
export interface RetryReport {
  /** The failure, as a sentence for a person. */
  readonly reason: string
  /** How long it waits, about (milliseconds). */
  readonly delayMs: number
}
