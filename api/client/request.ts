import type { ChangeSource } from '../contract/changeSource.ts'
import type { IncidentRequest, IncidentUpdateRequest } from '../contract/incident.ts'
import type { ServiceRequest } from '../contract/service.ts'
import type { BucketRate } from '../contract/tokenBucket.ts'
import type { Outgoing } from '../network/outgoing.ts'
import type { Attempt } from './attempt.ts'
import type { Lane, Limiter, Timing } from './limiter.ts'
import type { WaitObserver } from './waiting.ts'

/** Settings of a client. */
export interface ClientOptions {
  /** Base URL without /v1, http or https. */
  readonly url: string
  readonly apiKey: string
  /** More keys of the same organisation: their rates add up. */
  readonly moreApiKeys?: readonly string[]
  /** Product and version, for the server's log. */
  readonly userAgent: string
  /** Rate of each key without a limiter of its own; absent: the one that the contract grants. */
  readonly rate?: BucketRate | undefined
  /** Share one between all clients of the same key; a new one otherwise. */
  readonly limiter?: Limiter
  /** Proxy and authorities; absent: none, and those that Node trusts. */
  readonly outgoing?: Outgoing
  readonly timing?: Timing
  /** Milliseconds since the epoch, for responses that contain an instant. */
  readonly dateMs?: () => number
  /** Aborts reads, including those in flight, and their waits. Changes are not affected. */
  readonly endReads?: AbortSignal
  /**
   * The signal that aborts reads and every wait of a change for its turn, from now on; called for each request. A
   * change in flight still runs to its response. A creation rejected with the reason of this signal was therefore never
   * sent; a repeatable change may have been sent in an earlier attempt.
   */
  readonly endWaits?: () => AbortSignal | undefined
  /** Records what the client waits for; share one between clients that are reported together. */
  readonly observer?: WaitObserver
  readonly onAttempt?: (report: AttemptReport) => void
  /** Called when a request has failed and is about to wait before it is sent again. */
  readonly onRetry?: (report: RetryReport) => void
}

/** Settings of one call. */
export interface CallOptions {
  /** Aborts every wait, and a read in flight. A change in flight still runs to its response. */
  readonly signal?: AbortSignal | undefined
  readonly lane?: Lane
  /** Where the change comes from, for the history of its service. */
  readonly source?: Partial<ChangeSource>
  /** Called before each attempt, which is sent when this resolves; an error that it throws is passed on. */
  readonly beforeSend?: () => Promise<void>
  /**
   * Called when an attempt is about to be written to a connection; an error that it throws aborts the attempt and is
   * passed on.
   */
  readonly assertMaySend?: () => void
}

/** A request without the client's headers. */
export interface ClientRequest {
  readonly method: Attempt['method']
  readonly path: string
  readonly json?: ServiceRequest | IncidentRequest | IncidentUpdateRequest
  readonly idempotencyKey?: string
}

/** One attempt and its result, for logs and metrics, without headers and bodies. `status` is 0 without a response. */
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
  /** Approximate wait (milliseconds). */
  readonly delayMs: number
}
