import type { SeriesState, State } from '../../domain/serviceState.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { DAY_S, hourOf, type StoredResult } from '../history/storedResult.ts'
import type { Sources } from './sources.ts'

/** Maximum number of series of one request: the thread reads them in some milliseconds. */
export const LATEST_SERIES_MAX = 500

/** The last result of a series. */
export interface LatestResult {
  readonly series: number
  readonly state: State
  /** State of its endpoint across all regions. */
  readonly endpointState: State
  readonly last: StoredResult
  /** Earliest expiry in the certificate chains of the endpoint (seconds since the epoch); `null` without TLS. */
  readonly certificateEndS: number | null
}

/** Current states. */
interface States {
  readonly find: (
    series: number,
  ) =>
    | { readonly endpoint: number; readonly endedAtS: number | null; readonly state: SeriesState }
    | undefined
  readonly endpointStateOf: (endpoint: number) => State
}

/** Prepares reading the last results of monitored series; series without a result are left out. */
export function prepareLatest(database: ResultsDatabase, board: States, results: Sources['results']) {
  const certificateEnd = database
    .prepare<[number, number], number | null>(
      `SELECT min(c.chain_not_after_s) FROM certificate_endpoints e JOIN certificates c USING (org_id, host, port)
       WHERE e.endpoint = ? AND c.last_seen_s > ?`,
    )
    .pluck()
  return (series: readonly number[], nowS: number): readonly LatestResult[] =>
    series.slice(0, LATEST_SERIES_MAX).flatMap((number) => {
      const entry = board.find(number)
      if (entry === undefined || entry.endedAtS !== null) return []
      const { endpoint, state } = entry
      const last = results(number, hourOf(state.lastDueS)).find(({ dueS }) => dueS === state.lastDueS)
      if (last === undefined) return []
      const certificateEndS = certificateEnd.get(endpoint, nowS - DAY_S) ?? null
      const endpointState = board.endpointStateOf(endpoint)
      return [{ series: number, state: state.state, endpointState, last, certificateEndS }]
    })
}
