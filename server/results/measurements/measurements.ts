import type { Outcome, Reason } from '../../../monitoring/protocol/outcomes.ts'
import type { State } from '../../domain/serviceState.ts'
import type { StateSeconds } from '../history/daySeconds.ts'
import type { StoredState } from '../file/resultsSchema.ts'

/**
 * Everything that is read of results: consoles, status pages and commands read nothing else of them. Instants are seconds
 * since the epoch, latencies milliseconds. A service that does not exist, or was deleted, has no rows. Each method rejects
 * with ResultsBusyError while the results thread is down.
 */
export interface Measurements {
  /**
   * The services of an organisation, of `serviceIds` alone when given; one without a first update of the results thread is
   * absent.
   */
  states(orgId: string, serviceIds?: readonly string[]): Promise<readonly ServiceNow[]>
  /** The same of every service in short: what lists are ordered and counted by. */
  overview(orgId: string): Promise<readonly ServiceOverview[]>
  /** Seconds in each state of the UTC days `from` to `to` (YYYY-MM-DD, inclusive, 400 at most), from the first day of each service. */
  days(serviceIds: readonly string[], from: string, to: string): Promise<readonly ServiceDay[]>
  /** Latency of an endpoint's up results: a line for each region with results. */
  latency(query: LatencyQuery): Promise<readonly RegionLatency[]>
  /** Results of a service, newest first. A slot of the present definition without a result is `not_checked`. */
  results(query: ResultsQuery): Promise<readonly ServiceResult[]>
  /** Changes of state of a service and its endpoints in a period, oldest first, with the states that hold at its start. */
  timeline(serviceId: string, fromS: number, untilS: number): Promise<readonly TimelineSpan[]>
  /** Certificates that the endpoints of a service showed within the last day. */
  certificates(serviceId: string): Promise<readonly ServiceCertificate[]>
  /** Calls `listener` at most once a second with the services whose state or reasons changed; returns how to end that. */
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
   * The worst state in each of the last 24 hours, oldest first, the present one last: `d` down, `g` degraded, `u` up, `n`
   * unknown, `p` paused, `-` not monitored yet.
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

/** A day of a service. Its seconds add up to 86,400, of the present day to those that passed. */
export interface ServiceDay extends StateSeconds {
  readonly serviceId: string
  /** YYYY-MM-DD. */
  readonly day: string
}

/** Which latencies are read. */
export interface LatencyQuery {
  readonly endpointId: string
  readonly fromS: number
  readonly untilS: number
  /** Length of a point; at least an hour when the period is longer than 48 hours. 2,000 points at most. */
  readonly stepS: number
}

/** The latencies of an endpoint in a region. */
export interface RegionLatency {
  readonly region: string
  readonly points: readonly LatencyPoint[]
}

/** Latencies from `atS` on, for one step; `null` where there is no up result. */
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
  /** `cursor` of the last result of the page before. */
  readonly before?: string | undefined
  /** Leaves out results due before (seconds since the epoch); without it, whatever is stored. */
  readonly fromS?: number
  readonly limit: number
}

/** Phases of a check in their order. */
export const PHASES = ['dns', 'connect', 'tls', 'wait', 'body', 'total'] as const

/** A result with names in place of numbers. */
export interface ServiceResult {
  /** Its place among the results of the service: where the next page begins. */
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
  /** Bitmap of the failed assertions, by their place. */
  readonly failedAssertions: number
  /** The first of two attempts (microseconds); `null` where there was one. */
  readonly first: { readonly reason: Reason; readonly totalUs: number } | null
  /** Of the newest results of a series that are not up; `null` for others. */
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

/** A certificate that a target shows. */
export interface ServiceCertificate {
  readonly host: string
  readonly port: number
  readonly fingerprint: string
  readonly subject: string
  readonly issuer: string
  readonly serial: string
  readonly notBeforeS: number
  readonly notAfterS: number
  /** The earliest end of all certificates that were sent, the root left out. */
  readonly chainNotAfterS: number
  readonly lastSeenS: number
}
