import { regionOfSeries } from '../domain/regions.ts'
import type { SeriesState, SeriesTimes } from '../domain/serviceState.ts'
import type { StoredState } from './file/resultsSchema.ts'
import type { MonitoredService } from './monitoredService.ts'
import type { SeriesRow } from './stateRows.ts'

/** The fields of a series that results are validated against. */
export interface KnownSeries {
  readonly orgId: string
  readonly endpoint: number
  readonly generation: number
  /** When that generation was received (seconds since the epoch). */
  readonly changedAtS: number
  /** `null` while the series is checked (seconds since the epoch). */
  readonly endedAtS: number | null
}

/** A series with its state. */
export interface SeriesEntry extends KnownSeries {
  readonly number: number
  readonly region: string
  readonly times: SeriesTimes
  readonly state: SeriesState
}

/** An endpoint with its state and the numbers of its active series. */
export interface EndpointEntry {
  readonly number: number
  readonly id: string
  readonly serviceId: string
  readonly orgId: string
  readonly series: readonly number[]
  readonly state: StoredState
  readonly sinceS: number
}

/** A service with its state and the numbers of its endpoints. */
export interface ServiceEntry {
  readonly id: string
  readonly orgId: string
  readonly generation: number
  readonly isPaused: boolean
  readonly endpoints: readonly number[]
  readonly state: StoredState
  readonly sinceS: number
}

/** The first state of a service. A paused service without stored states counts as paused since its pause. Pure. */
export function newService(
  { pausedAtS }: MonitoredService,
  nowS: number,
): Pick<ServiceEntry, 'state' | 'sinceS'> {
  return pausedAtS === null ? { state: 'unknown', sinceS: nowS } : { state: 'paused', sinceS: pausedAtS }
}

/** The series of `row`. Pure. */
export function seriesEntry(row: SeriesRow & { readonly orgId: string }): SeriesEntry {
  const { series: number, orgId, endpoint, generation, changedAtS, endedAtS, intervalS, timeoutMs } = row
  const { sinceS, lastDueS, knownDueS, clean, reason } = row
  // True because series are stored as up, degraded, down or unknown only.
  const state = row.state as SeriesState['state']
  return {
    ...{ number, region: regionOfSeries(number) ?? '', orgId, endpoint, generation, changedAtS, endedAtS },
    times: { intervalS, timeoutMs },
    state: { state, sinceS, lastDueS, knownDueS, clean, reason },
  }
}
