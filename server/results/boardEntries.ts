import { regionOfSeries } from '../domain/regions.ts'
import type { SeriesState, SeriesTimes } from '../domain/serviceState.ts'
import type { MonitoredService } from './monitoredService.ts'
import type { EndpointRow, SeriesRow, ServiceRow } from './stateRows.ts'

/** A series with its state. */
export interface SeriesEntry extends Pick<SeriesRow, 'endpoint' | 'generation' | 'changedAtS' | 'endedAtS'> {
  readonly orgId: string
  readonly number: number
  readonly region: string
  readonly times: SeriesTimes
  readonly state: SeriesState
}

/** An endpoint with its state and the numbers of its active series. */
export interface EndpointEntry extends EndpointRow {
  readonly series: readonly number[]
}

/** A service with its state and the numbers of its endpoints. */
export interface ServiceEntry extends ServiceRow {
  readonly isPaused: boolean
  readonly endpoints: readonly number[]
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
