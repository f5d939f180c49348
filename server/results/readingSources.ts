import { OUTCOMES } from '../../monitoring/protocol/outcomes.ts'
import { endpointOfSeries } from '../domain/regions.ts'
import { atInstant, endpointState, type SeriesState, type State } from '../domain/serviceState.ts'
import { seriesEntry } from './boardEntries.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { stateName } from './file/resultsSchema.ts'
import { groupBy } from './history/groupBy.ts'
import { HOUR_S, RESULT_COLUMNS, type StoredResult } from './history/storedResult.ts'
import { prepareResults, type SeriesNow, type Sources } from './measurements/sources.ts'
import { type Coded, SERIES_COLUMNS, type SeriesRow } from './stateRows.ts'

/** Sources of queries in a process that does not store results: it reads the log from the database by an index. */
export function prepareReading(database: ResultsDatabase): (nowS: number) => Sources {
  const open = database.prepare<[number, number, number], StoredResult>(
    `SELECT ${RESULT_COLUMNS} FROM log WHERE series = ? AND due_s >= ? AND due_s < ? ORDER BY due_s`,
  )
  const results = prepareResults(database, {
    results: (series, hour) => open.all(series, hour * HOUR_S, (hour + 1) * HOUR_S),
  })
  const select = `SELECT ${SERIES_COLUMNS} FROM series_states s JOIN endpoints e ON e.number = s.endpoint
    CROSS JOIN LATERAL (SELECT
      (SELECT max(due_s) FROM log WHERE series = s.series) AS last,
      (SELECT max(due_s) FROM log WHERE series = s.series AND outcome <> ${OUTCOMES.unknown}) AS known) newest`
  const active = 's.ended_at_s IS NULL ORDER BY s.series'
  const ofEndpoint = database.prepare<[number], StoredSeries>(`${select} WHERE s.endpoint = ? AND ${active}`)
  const ofOrg = database.prepare<[string], StoredSeries>(
    `${select} JOIN service_now n ON n.service_id = e.service_id WHERE n.org_id = ? AND ${active}`,
  )
  return (nowS) => {
    const now = (row: StoredSeries): SeriesNow => {
      const { number, region, state, times } = seriesEntry({ ...row, state: stateName(row.state) })
      return { number, region, state: atInstant(state, times, nowS) }
    }
    let fetched: ReadonlyMap<number, readonly SeriesNow[]> | undefined
    return {
      ...{ database, nowS, results },
      // After a prefetch, a missing endpoint has no series.
      seriesOf: (endpoint) =>
        fetched === undefined ? ofEndpoint.all(endpoint).map(now) : (fetched.get(endpoint) ?? []),
      prefetchOrg: (orgId) => {
        fetched = groupBy(ofOrg.all(orgId).map(now), ({ number }) => endpointOfSeries(number))
      },
    }
  }
}

type StoredSeries = Coded<SeriesRow & { readonly orgId: string }>

/** The current states of series and endpoints; each endpoint is read once. */
export function statesOf({ seriesOf }: Pick<Sources, 'seriesOf'>) {
  const known = new Map<number, readonly SeriesNow[]>()
  const read = (endpoint: number): readonly SeriesNow[] => {
    const found = known.get(endpoint) ?? seriesOf(endpoint)
    known.set(endpoint, found)
    return found
  }
  return {
    find: (series: number): { endpoint: number; endedAtS: null; state: SeriesState } | undefined => {
      const endpoint = endpointOfSeries(series)
      const found = read(endpoint).find(({ number }) => number === series)
      return found && { endpoint, endedAtS: null, state: found.state }
    },
    endpointStateOf: (endpoint: number): State =>
      endpointState(read(endpoint).map(({ state }) => state.state)),
  }
}
