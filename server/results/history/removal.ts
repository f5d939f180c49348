import { REGIONS_MAX, seriesOfEndpoint } from '../../domain/regions.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { STATE_CODES } from '../file/resultsSchema.ts'
import { chunkNumbersOf, listChunkTables } from './chunkTables.ts'
import { dueTimes } from './dueTimes.ts'
import { inSlices, type Slices, whileFull } from './slices.ts'

/** Rows removed in one slice. */
const SLICE_ROWS = 2_000

/** Removes all history of deleted services, which queries no longer see since their deletion. */
export function* removeDeleted(
  database: ResultsDatabase,
  nowMs: () => number,
  /** Called for each series whose results were removed from the log. */
  forget: (series: number) => void,
): Slices {
  const services = database.prepare<[], string>('SELECT service_id FROM removals').pluck().all()
  if (services.length === 0) return
  const endpointsOf = database
    .prepare<[string], number>('SELECT number FROM endpoints WHERE service_id = ?')
    .pluck()
  const endpoints = services.flatMap((id) => endpointsOf.all(id))
  const series = endpoints.flatMap(seriesOfEndpoint)
  yield* removeFromLog(database, nowMs)
  for (const each of series) forget(each)
  for (const endpoint of endpoints) yield* removeEndpoint(database, endpoint, nowMs)
  for (const id of services) {
    for (const table of ['service_spans', 'service_days', 'service_latency', 'maintenance_windows']) {
      yield* removeRows(database, table, 'service_id = ?', () => [id])
    }
    const done = database.prepare('DELETE FROM removals WHERE service_id = ?')
    yield () => {
      done.run(id)
    }
  }
}

/** Removes endpoints that existing services removed before `beforeS` (seconds since the epoch), with all their history. */
export function* removeEnded(
  database: ResultsDatabase,
  beforeS: (orgId: string) => number,
  nowMs: () => number,
): Slices {
  const ended = database
    .prepare<[number], { number: number; orgId: string; sinceS: number }>(
      'SELECT number, org_id AS "orgId", since_s AS "sinceS" FROM endpoints WHERE state = ?',
    )
    .all(STATE_CODES.ended)
  for (const { number, orgId, sinceS } of ended) {
    if (sinceS < beforeS(orgId)) yield* removeEndpoint(database, number, nowMs)
  }
}

/** Removes results from the log second by second, because the log is ordered by time. */
function* removeFromLog(database: ResultsDatabase, nowMs: () => number): Slices {
  const remove = database.prepare(
    `DELETE FROM log WHERE due_s = ? AND series / ${REGIONS_MAX} IN
       (SELECT e.number FROM endpoints e JOIN removals r ON r.service_id = e.service_id)`,
  )
  yield* inSlices(dueTimes(database, 0), nowMs, (dueS) => {
    remove.run(dueS)
  })
}

function* removeEndpoint(database: ResultsDatabase, endpoint: number, nowMs: () => number): Slices {
  const series = seriesOfEndpoint(endpoint)
  for (const { name } of listChunkTables(database)) {
    const remove = database.prepare(`DELETE FROM ${name} WHERE place >= ? AND place < ?`)
    yield* inSlices(series, nowMs, (each) => {
      remove.run(...chunkNumbersOf(each))
    })
  }
  for (const each of series) {
    for (const table of ['late', 'hours', 'details', 'series_states']) {
      yield* removeRows(database, table, 'series = ?', () => [each])
    }
  }
  for (const table of ['spans', 'endpoint_days', 'certificate_endpoints']) {
    yield* removeRows(database, table, 'endpoint = ?', () => [endpoint])
  }
  yield* removeRows(database, 'endpoints', 'number = ?', () => [endpoint])
}

/** Removes the rows of `table` that meet `condition` on `values`, which each slice asks for. */
export function* removeRows(
  database: ResultsDatabase,
  table: string,
  condition: string,
  values: () => readonly (number | string)[],
): Slices {
  const keys = database.keyOf(table).join(', ')
  const remove = database.prepare(
    `DELETE FROM ${table} WHERE (${keys}) IN
       (SELECT ${keys} FROM ${table} WHERE ${condition} LIMIT ${SLICE_ROWS})`,
  )
  yield* whileFull(SLICE_ROWS, () => remove.run(...values()).changes)
}
