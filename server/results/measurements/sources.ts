import type { SeriesState } from '../../domain/serviceState.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { ChunkTables } from '../history/chunkTables.ts'
import type { OpenHours } from '../history/openHours.ts'
import { HOUR_S, mergeResults, RESULT_COLUMNS, type StoredResult } from '../history/storedResult.ts'

/** An active series with its state at the time of the query. */
export interface SeriesNow {
  readonly number: number
  readonly region: string
  readonly state: SeriesState
}

/** Data sources of queries. */
export interface Sources {
  /** A read-only connection. */
  readonly database: ResultsDatabase
  readonly nowS: number
  /** The active series of an endpoint. */
  readonly seriesOf: (endpoint: number) => readonly SeriesNow[]
  /** Reads the series of an organisation in one statement. */
  readonly prefetchOrg: (orgId: string) => void
  /** The results of a series in an hour, ordered by due time, without duplicates. */
  readonly results: (series: number, hour: number) => readonly StoredResult[]
}

/** A query, which yields between steps. */
export type Query<Output> = Generator<void, Output>

/** Prepares the reading of results from `openHours`, late results and chunks. */
export function prepareResults(
  database: ResultsDatabase,
  openHours: Pick<OpenHours, 'results'>,
): Sources['results'] {
  const chunks = new ChunkTables(database)
  const late = database.prepare<[number, number, number], StoredResult>(
    `SELECT ${RESULT_COLUMNS} FROM late WHERE series = ? AND due_s >= ? AND due_s < ? ORDER BY due_s`,
  )
  return (series, hour) => {
    // The upkeep, which may run in another process, moves results to chunks: read last, they miss none.
    const ofLate = late.all(series, hour * HOUR_S, (hour + 1) * HOUR_S)
    const ofOpenHour = openHours.results(series, hour)
    return mergeResults(mergeResults(chunks.results(series, hour), ofOpenHour), ofLate)
  }
}

/** An endpoint of an existing service. */
export interface EndpointOfService {
  readonly number: number
  readonly id: string
}

/** The endpoints of a service, including removed ones; none for an unknown service. */
export function endpointsOf(database: ResultsDatabase, serviceId: string): readonly EndpointOfService[] {
  return database
    .prepare<[string], EndpointOfService>(
      `SELECT e.number, e.id FROM service_now s JOIN endpoints e ON e.service_id = s.service_id
       WHERE s.service_id = ? ORDER BY e.number`,
    )
    .all(serviceId)
}
