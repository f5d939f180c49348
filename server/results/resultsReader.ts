import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { atInstant } from '../domain/serviceState.ts'
import type { ResultsPlace } from '../store/engine.ts'
import { schemaVersion } from '../store/sqlite/files/migrations.ts'
import { seriesEntry } from './boardEntries.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { isDamage } from './file/damage.ts'
import { RESULTS_FILE } from './file/resultsSchema.ts'
import { sqliteResults } from './file/sqliteResults.ts'
import { groupBy } from './history/groupBy.ts'
import { OpenHours } from './history/openHours.ts'
import { loadLog } from './history/resultLog.ts'
import type { Measurements } from './measurements/measurements.ts'
import { measurementsOf } from './measurements/measurementsOf.ts'
import { type RunQuery, startQuery } from './measurements/queries.ts'
import { prepareResults, type SeriesNow, type Sources } from './measurements/sources.ts'
import { readSeriesRows } from './stateRows.ts'

/** Maximum wait of a read for the writing process (milliseconds). */
const BUSY_MS_MAX = 5_000

/**
 * Runs `read` on the measurements in `place` at `nowS` (seconds since the epoch), with or without a running server.
 * Resolves to `undefined` when there are no results. Rejects with a remedy when the file is damaged. Writes nothing.
 */
export function withMeasurements<Result>(
  place: ResultsPlace,
  nowS: number,
  read: (measurements: Measurements) => Promise<Result>,
): Promise<Result | undefined> {
  return 'dataDir' in place
    ? withFile(place.dataDir, nowS, read)
    : withDatabase(place.databaseUrl, nowS, read)
}

async function withDatabase<Result>(
  url: string,
  nowS: number,
  read: (measurements: Measurements) => Promise<Result>,
): Promise<Result> {
  const { openPostgresResults } = await import('./postgres/postgresResults.ts')
  const { prepareReading } = await import('./readingSources.ts')
  const database = openPostgresResults({ url, lease: null })
  try {
    const sources = prepareReading(database)
    return await read(measurementsOf(prepareRun(sources(nowS)), () => () => {}))
  } finally {
    database.close()
  }
}

async function withFile<Result>(
  dataDir: string,
  nowS: number,
  read: (measurements: Measurements) => Promise<Result>,
): Promise<Result | undefined> {
  const file = join(dataDir, RESULTS_FILE)
  if (!existsSync(file)) return undefined
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file, { readonly: true, timeout: BUSY_MS_MAX })
  try {
    // A server may be creating the file.
    if (schemaVersion(database) === 0) return undefined
    const results = sqliteResults(database)
    return await read(measurementsOf(prepareRun(sourcesOf(results, nowS)), () => () => {}))
  } catch (error) {
    if (!isDamage(error)) throw error
    throw new Error(
      `${file} is damaged: restart the server, which renames the file and continues; only history is lost`,
      { cause: error },
    )
  } finally {
    database.close()
  }
}

/** Runs each query without interruption, on one snapshot. */
function prepareRun(sources: Sources): RunQuery {
  return async (name, input) =>
    sources.database.onSnapshot(() => {
      const query = startQuery(sources, name, input)
      for (;;) {
        const { value, done } = query.next()
        if (done === true) return value
      }
    })
}

function sourcesOf(database: ResultsDatabase, nowS: number): Sources {
  let series: ReadonlyMap<number, readonly SeriesNow[]> | undefined
  let results: Sources['results'] | undefined
  return {
    database,
    nowS,
    // `seriesOf` reads all series at once.
    prefetchOrg: () => {},
    seriesOf: (endpoint) => {
      series ??= readSeries(database, nowS)
      return series.get(endpoint) ?? []
    },
    results: (number, hour) => {
      results ??= prepareResults(database, readLog(database))
      return results(number, hour)
    },
  }
}

function readLog(database: ResultsDatabase): OpenHours {
  const openHours = new OpenHours()
  for (const slice of loadLog(database, openHours, () => 0)) slice()
  return openHours
}

/** Active series by endpoint number; a series without recent results is unknown. */
function readSeries(database: ResultsDatabase, nowS: number): ReadonlyMap<number, readonly SeriesNow[]> {
  const active = readSeriesRows(database)
    .map(seriesEntry)
    .filter(({ endedAtS }) => endedAtS === null)
  const now = active.map((series) => ({ ...series, state: atInstant(series.state, series.times, nowS) }))
  return groupBy(now, ({ endpoint }) => endpoint)
}
