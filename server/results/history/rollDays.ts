import { prepareMeta, readMeta } from '../database/meta.ts'
import { type ResultsDatabase, upsertSql } from '../database/resultsDatabase.ts'
import { type StateSeconds, stateSeconds } from './daySeconds.ts'
import { latenciesOf } from './hourRollup.ts'
import { prepareHourRows } from './hourRows.ts'
import { inSlices, type Slices } from './slices.ts'
import { prepareSpanRows } from './spanRows.ts'
import { DAYS_KEPT } from './retention.ts'
import { DAY_S } from './storedResult.ts'

/** A day is rolled up this long after its end (seconds): until then late results may change it. */
const FINAL_AFTER_S = 28 * 60 * 60
const DAY_HOURS = 24
const P95 = 0.95

/** The first day (since 1970) that is not rolled up; 0 before the first roll-up. */
export function readRolledDays(database: ResultsDatabase): number {
  return Number(readMeta(database, 'days before') ?? 0)
}

/**
 * Rolls up the days that are final at `nowS`: the seconds in each state of services and endpoints, from their spans,
 * and the checks of endpoints, from `hours`. Later days are computed on read.
 */
export function* rollDays(database: ResultsDatabase, nowS: number, nowMs: () => number): Slices {
  const finalDay = Math.floor((nowS - FINAL_AFTER_S) / DAY_S)
  const firstDay = database
    .prepare<[], number | null>(`SELECT min(from_s) / ${DAY_S} FROM service_spans`)
    .pluck()
    .get()
  const putMeta = prepareMeta(database)
  const services = database.prepare<[], string>('SELECT service_id FROM service_now').pluck()
  const endpoints = database.prepare<[], { number: number; serviceId: string }>(
    'SELECT number, service_id AS "serviceId" FROM endpoints',
  )
  // States of a clock that was decades behind begin long before the days that are kept.
  const fromDay = Math.max(readRolledDays(database), firstDay ?? finalDay, finalDay - DAYS_KEPT)
  for (let day = fromDay; day < finalDay; day += 1) {
    yield* inSlices(services.all(), nowMs, prepareServiceDay(database, day))
    yield* inSlices(endpoints.all(), nowMs, prepareEndpointDay(database, day))
    const rolled = day + 1
    yield () => {
      putMeta('days before', String(rolled))
    }
  }
}

function prepareServiceDay(database: ResultsDatabase, day: number): (serviceId: string) => void {
  const spans = prepareSpanRows(database)
  const put = database.prepare(upsertSql('service_days', ['service_id', 'day'], SECONDS_COLUMNS))
  const period = { fromS: day * DAY_S, untilS: (day + 1) * DAY_S }
  return (serviceId) => {
    const ofDay = spans.ofService(serviceId, period)
    if (ofDay.length === 0) return
    const seconds = stateSeconds(day, period.untilS, ofDay, spans.maintenanceOf(serviceId))
    put.run(serviceId, day, ...SECONDS.map((state) => seconds[state]))
  }
}

function prepareEndpointDay(
  database: ResultsDatabase,
  day: number,
): (endpoint: { readonly number: number; readonly serviceId: string }) => void {
  const spans = prepareSpanRows(database)
  const hours = prepareHourRows(database)
  const put = database.prepare(
    upsertSql('endpoint_days', ['endpoint', 'day'], [...SECONDS_COLUMNS, 'checks', 'checks_up', 'p95_us']),
  )
  const period = { fromS: day * DAY_S, untilS: (day + 1) * DAY_S }
  return ({ number, serviceId }) => {
    const ofDay = spans.ofEndpoint(number, period)
    if (ofDay.length === 0 || (ofDay.length === 1 && ofDay[0]?.state === 'ended')) return
    const rollups = hours.ofEndpoint(number, day * DAY_HOURS, (day + 1) * DAY_HOURS)
    const seconds = stateSeconds(day, period.untilS, ofDay, spans.maintenanceOf(serviceId))
    const checks = rollups.reduce(
      (sum, { up, degraded, down, unknown }) => sum + up + degraded + down + unknown,
      0,
    )
    const checksUp = rollups.reduce((sum, { up }) => sum + up, 0)
    const ofStates = SECONDS.map((state) => seconds[state])
    put.run(number, day, ...ofStates, checks, checksUp, latenciesOf(rollups).quantileUs(P95))
  }
}

/** The states with seconds in both tables, in column order. */
const SECONDS = [
  ...(['up', 'degraded', 'down', 'unknown', 'paused', 'maintenance'] satisfies (keyof StateSeconds)[]),
]
const SECONDS_COLUMNS = SECONDS.map((state) => `${state}_s`)

/** Writes the p95 of the last 24 compacted hours of each service, after an hour was compacted. For lists of services. */
export function* rollLatencies(database: ResultsDatabase, frontierHour: number, nowMs: () => number): Slices {
  if (Number(readMeta(database, 'latencies before') ?? 0) >= frontierHour) return
  const putMeta = prepareMeta(database)
  const hours = prepareHourRows(database)
  const endpoints = database
    .prepare<[string], number>('SELECT number FROM endpoints WHERE service_id = ?')
    .pluck()
  const put = database.prepare(upsertSql('service_latency', ['service_id'], ['p95_us']))
  const services = database.prepare<[], string>('SELECT service_id FROM service_now').pluck().all()
  yield* inSlices(services, nowMs, (serviceId) => {
    const rollups = endpoints
      .all(serviceId)
      .flatMap((number) => hours.ofEndpoint(number, frontierHour - DAY_HOURS, frontierHour))
    put.run(serviceId, latenciesOf(rollups).quantileUs(P95))
  })
  yield () => {
    putMeta('latencies before', String(frontierHour))
  }
}
