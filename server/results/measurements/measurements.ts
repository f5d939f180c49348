import type { Outcome, Reason } from '../../../monitoring/protocol/outcomes.ts'
import type { CertificateTimes } from '../../domain/certificateNotices.ts'
import type { State } from '../../domain/serviceState.ts'
import type { StoredState } from '../file/resultsSchema.ts'
import type { StateSeconds } from '../history/daySeconds.ts'

/**
 * Queries of results: the only interface of consoles, status pages and commands. Instants are seconds since the epoch,
 * latencies milliseconds. An unknown or deleted service has no rows. Every method rejects with ResultsBusyError while
 * the results thread is down.
 */
export interface Measurements {
  /**
   * The services of an organisation, or only `serviceIds`. A service that the results thread has not received yet is
   * absent.
   */
  states(orgId: string, serviceIds?: readonly string[]): Promise<readonly ServiceNow[]>
  /** The same for every service in short, for ordering and counting lists. */
  overview(orgId: string): Promise<readonly ServiceOverview[]>
  /** Seconds in each state of the UTC days `from` to `to` (YYYY-MM-DD, inclusive, 400 at most), from the first day of each service. */
  days(serviceIds: readonly string[], from: string, to: string): Promise<readonly ServiceDay[]>
  /** Latency of an endpoint's up results, for each region with results. */
  latency(query: LatencyQuery): Promise<readonly RegionLatency[]>
  /** Results of a service, newest first. A slot of the current definition without a result is `not_checked`. */
  results(query: ResultsQuery): Promise<readonly ServiceResult[]>
  /** State changes of a service and its endpoints in a period, oldest first, with the states at its start. */
  timeline(serviceId: string, fromS: number, untilS: number): Promise<readonly TimelineSpan[]>
  /** Certificates that the endpoints of a service presented within the last day. */
  certificates(serviceId: string): Promise<readonly ServiceCertificate[]>
  /**
   * Calls `listener` at most once a second with the services whose state or reasons changed; returns a function that
   * unsubscribes.
   */
  onChange(listener: (serviceIds: ReadonlySet<string>) => void): () => void
}

/** The current state of a service in short. */
export interface ServiceOverview {
  readonly id: string
  readonly state: State | 'paused'
  readonly sinceS: number
  /** Of the last 24 compacted hours; `null` without an up result. */
  readonly p95Ms: number | null
}

/** The current state of a service. */
export interface ServiceNow extends ServiceOverview {
  /** Of each series that is not up. */
  readonly reasons: readonly StateReason[]
  /** When the newest result was due; `null` before the first. */
  readonly lastResultS: number | null
  /**
   * The worst state in each of the last 24 hours, oldest first: `d` down, `g` degraded, `u` up, `n` unknown, `p`
   * paused, `-` not monitored yet.
   */
  readonly hours: string
  readonly certificates: readonly {
    readonly host: string
    readonly notAfterS: number
    readonly daysLeft: number
  }[]
}

/** The reason of a series that is not up. */
export interface StateReason {
  readonly endpointId: string
  readonly region: string
  /** Reason of the last check; `stale` when results stopped, `no_result` before the first. */
  readonly reason: string
  /** A sentence without secrets. */
  readonly text: string
}

/** A day of a service. Its seconds add up to 86,400, or on the present day to the seconds so far. */
export interface ServiceDay extends StateSeconds {
  readonly serviceId: string
  /** YYYY-MM-DD. */
  readonly day: string
}

/** Selects latencies. */
export interface LatencyQuery {
  readonly endpointId: string
  readonly fromS: number
  readonly untilS: number
  /** Length of a point; at least an hour for periods over 48 hours. At most 2,000 points. */
  readonly stepS: number
}

/** The latencies of an endpoint in a region. */
export interface RegionLatency {
  readonly region: string
  readonly points: readonly LatencyPoint[]
}

/** Latencies of one step from `atS` on; `null` without an up result. */
export interface LatencyPoint {
  readonly atS: number
  readonly count: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly maxMs: number | null
}

/** Selects results of a service. */
export interface ResultsQuery {
  readonly serviceId: string
  readonly region?: string | undefined
  readonly endpointId?: string | undefined
  /** Leaves out up results. */
  readonly isFailedOnly?: boolean
  /** `cursor` of the last result of the previous page. */
  readonly before?: string | undefined
  /** Leaves out results due before (seconds since the epoch). */
  readonly fromS?: number
  readonly limit: number
}

/** Phases of a check in their order. */
export const PHASES = ['dns', 'connect', 'tls', 'wait', 'body', 'total'] as const

/** A result with names in place of numbers. */
export interface ServiceResult {
  /** Its position among the results of the service: the next page begins after it. */
  readonly cursor: string
  /** When it was due. */
  readonly atS: number
  readonly region: string
  readonly endpointId: string
  readonly outcome: Outcome
  /** `not_checked` for a slot that has no result. */
  readonly reason: Reason | 'not_checked'
  /** `null` without a response. */
  readonly status: number | null
  readonly attempts: number
  /** Microseconds. */
  readonly phases: Readonly<Record<(typeof PHASES)[number], number>>
  /** Generation of the definition; 0 for a slot without a result. */
  readonly generation: number
  /** Bitmap of the failed assertions, by index. */
  readonly failedAssertions: number
  /** The first of two attempts (microseconds); `null` for a single attempt. */
  readonly first: { readonly reason: Reason; readonly totalUs: number } | null
  /** Only for the newest results that are not up; `null` for others. */
  readonly details: {
    /** A sentence without secrets. */
    readonly text: string
    /** Of the first failed assertion. */
    readonly expected: string | null
    readonly seen: string | null
  } | null
}

/** A state from `fromS` until the next span of the same service or endpoint. */
export interface TimelineSpan {
  /** `null` for the service itself. */
  readonly endpointId: string | null
  readonly fromS: number
  readonly state: StoredState
  /** Codes of the regions that were down; none for the service itself. */
  readonly regionsDown: readonly string[]
}

/** A certificate that a target presents. */
export interface ServiceCertificate extends CertificateTimes {
  readonly host: string
  readonly port: number
  readonly fingerprint: string
  readonly subject: string
  readonly issuer: string
  readonly serial: string
  readonly lastSeenS: number
}
