import { regionOfSeries } from '../domain/regions.ts'
import type { SeriesState, SeriesTimes } from '../domain/serviceState.ts'
import type { KeptState } from './resultsSchema.ts'
import type { SeriesRow } from './stateRows.ts'

/** A series as a result is compared with it. */
export interface KnownSeries {
  readonly orgId: string
  readonly endpoint: number
  readonly generation: number
  /** When that generation came (seconds since the epoch). */
  readonly changedAtS: number
  /** `null` while it is checked. */
  readonly endedAtS: number | null
}

/** A series in memory. */
export interface SeriesEntry extends KnownSeries {
  readonly number: number
  readonly region: string
  readonly times: SeriesTimes
  readonly state: SeriesState
}

/** An endpoint in memory, with the series that are checked. */
export interface EndpointEntry {
  readonly number: number
  readonly id: string
  readonly serviceId: string
  readonly orgId: string
  readonly series: readonly number[]
  readonly state: KeptState
  readonly sinceS: number
}

/** A service in memory. */
export interface ServiceEntry {
  readonly id: string
  readonly orgId: string
  readonly generation: number
  readonly isPaused: boolean
  readonly endpoints: readonly number[]
  readonly state: KeptState
  readonly sinceS: number
}

/** The series that a row keeps. Pure. */
export function seriesEntry(row: SeriesRow, orgId: string): SeriesEntry {
  const { series: number, endpoint, generation, changedAtS, endedAtS, intervalS, timeoutMs } = row
  const { sinceS, lastDueS, knownDueS, clean, reason } = row
  // True because series are kept as up, degraded, down or unknown only.
  const state = row.state as SeriesState['state']
  return {
    ...{ number, region: regionOfSeries(number) ?? '', orgId, endpoint, generation, changedAtS, endedAtS },
    times: { intervalS, timeoutMs },
    state: { state, sinceS, lastDueS, knownDueS, clean, reason },
  }
}
