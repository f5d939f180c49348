import { endpointState, serviceState } from '../../domain/serviceState.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { reasonOfSeries } from '../file/reasonOfSeries.ts'
import { STATE_CODES, type StoredState, stateName } from '../file/resultsSchema.ts'
import { groupBy } from '../history/groupBy.ts'
import { prepareSpanRows } from '../history/spanRows.ts'
import { DAY_S, HOUR_S } from '../history/storedResult.ts'
import type { ServiceNow, ServiceOverview, StateReason } from './measurements.ts'
import type { Query, SeriesNow, Sources } from './sources.ts'

const STEP_SERVICES = 50
const STEP_OVERVIEWS = 500
/** Hours that `ServiceNow.hours` covers. */
const HOURS = 24
/** States from the worst to the best, with their letters. */
const LETTERS: readonly (readonly [StoredState, string])[] = [
  ['down', 'd'],
  ['degraded', 'g'],
  ['up', 'u'],
  ['unknown', 'n'],
  ['paused', 'p'],
]

interface ServiceColumns {
  readonly id: string
  readonly state: number
  readonly sinceS: number
  readonly p95Us: number | null
}

const SELECT = `SELECT s.service_id AS id, s.state, s.since_s AS "sinceS", l.p95_us AS "p95Us" FROM service_now s
  LEFT JOIN service_latency l ON l.service_id = s.service_id WHERE s.org_id = ?`

/** See `Measurements.states`. `seriesOf` applies staleness, so that states are correct without a running server. */
export function* readStates(
  sources: Sources,
  { orgId, serviceIds }: { readonly orgId: string; readonly serviceIds?: readonly string[] | undefined },
): Query<readonly ServiceNow[]> {
  const { database } = sources
  const one = database.prepare<[string, string], ServiceColumns>(`${SELECT} AND s.service_id = ?`)
  const services =
    serviceIds === undefined
      ? database.prepare<[string], ServiceColumns>(SELECT).all(orgId)
      : serviceIds.flatMap((id) => one.get(orgId, id) ?? [])
  const read = prepareService(
    sources,
    serviceIds === undefined ? endpointsOfOrg(sources, orgId) : prepareEndpoints(database),
  )
  const states: ServiceNow[] = []
  for (const service of services) {
    states.push(read(service))
    if (states.length % STEP_SERVICES === 0) yield
  }
  return states
}

/** See `Measurements.overview`. */
export function* readOverview(
  sources: Sources,
  { orgId }: { readonly orgId: string },
): Query<readonly ServiceOverview[]> {
  const read = prepareServiceStates(sources, endpointsOfOrg(sources, orgId))
  const found: ServiceOverview[] = []
  for (const service of sources.database.prepare<[string], ServiceColumns>(SELECT).all(orgId)) {
    found.push(read(service).overview)
    if (found.length % STEP_OVERVIEWS === 0) yield
  }
  return found
}

/** A service in short, with its endpoints. */
interface ServiceStates {
  readonly overview: ServiceOverview
  readonly endpoints: readonly {
    readonly number: number
    readonly id: string
    readonly series: readonly SeriesNow[]
  }[]
}

/** The current endpoints of a service, ordered by number. */
type EndpointsOf = (serviceId: string) => readonly { readonly number: number; readonly id: string }[]

function prepareEndpoints(database: ResultsDatabase): EndpointsOf {
  const select = database.prepare<[string, number], { number: number; id: string }>(
    'SELECT number, id FROM endpoints WHERE service_id = ? AND state <> ? ORDER BY number',
  )
  return (serviceId) => select.all(serviceId, STATE_CODES.ended)
}

/** The endpoints of all services of an organisation, prefetched with their series. */
function endpointsOfOrg({ database, prefetchOrg }: Sources, orgId: string): EndpointsOf {
  prefetchOrg(orgId)
  const rows = database
    .prepare<[string, number], { number: number; id: string; serviceId: string }>(
      `SELECT e.number, e.id, e.service_id AS "serviceId" FROM service_now s JOIN endpoints e ON e.service_id = s.service_id
       WHERE s.org_id = ? AND e.state <> ? ORDER BY e.number`,
    )
    .all(orgId, STATE_CODES.ended)
  const endpoints = groupBy(rows, ({ serviceId }) => serviceId)
  return (serviceId) => endpoints.get(serviceId) ?? []
}

function prepareServiceStates(
  { seriesOf }: Pick<Sources, 'seriesOf'>,
  endpointsOf: EndpointsOf,
): (service: ServiceColumns) => ServiceStates {
  return ({ id, state, sinceS, p95Us }) => {
    const endpoints = endpointsOf(id).map((endpoint) => ({ ...endpoint, series: seriesOf(endpoint.number) }))
    const p95Ms = p95Us === null ? null : p95Us / 1_000
    if (stateName(state) === 'paused') return { overview: { id, state: 'paused', sinceS, p95Ms }, endpoints }
    const now = serviceState(
      endpoints.map((one) => endpointState(one.series.map((each) => each.state.state))),
    )
    // A state that differs from the stored one changed when its last series became stale.
    const changedS = Math.max(
      sinceS,
      ...endpoints.flatMap(({ series }) => series.map((each) => each.state.sinceS)),
    )
    const overview = { id, state: now, sinceS: stateName(state) === now ? sinceS : changedS, p95Ms }
    return { overview, endpoints }
  }
}

function prepareService(sources: Sources, endpointsOf: EndpointsOf): (service: ServiceColumns) => ServiceNow {
  const { database, nowS } = sources
  const statesOfService = prepareServiceStates(sources, endpointsOf)
  const textOf = prepareText(database)
  const certificatesOf = prepareCertificates(database, nowS)
  const hoursOf = prepareHours(database, nowS)
  return (service) => {
    const { overview, endpoints } = statesOfService(service)
    const dueS = Math.max(0, ...endpoints.flatMap(({ series }) => series.map((each) => each.state.lastDueS)))
    const isPaused = overview.state === 'paused'
    return {
      ...overview,
      lastResultS: dueS === 0 ? null : dueS,
      hours: hoursOf(service.id),
      certificates: certificatesOf(endpoints.map(({ number }) => number)),
      reasons: isPaused
        ? []
        : endpoints.flatMap((one) => one.series.flatMap((each) => reasonOf(one.id, each, textOf))),
    }
  }
}

type TextOf = (series: number) => string | undefined

function reasonOf(
  endpointId: string,
  { number, region, state }: SeriesNow,
  textOf: TextOf,
): readonly StateReason[] {
  if (state.state === 'up') return []
  const reason = reasonOfSeries(state)
  if (reason === 'no_result') return [{ endpointId, region, reason, text: 'no result yet' }]
  if (reason !== 'stale') return [{ endpointId, region, reason, text: textOf(number) ?? reason }]
  const since = new Date(state.lastDueS * 1_000).toISOString()
  return [{ endpointId, region, reason, text: `no result since ${since}` }]
}

function prepareText(database: ResultsDatabase): TextOf {
  const newest = database
    .prepare<[number], string>('SELECT text FROM details WHERE series = ? ORDER BY due_s DESC LIMIT 1')
    .pluck()
  return (series) => newest.get(series)
}

function prepareHours(database: ResultsDatabase, nowS: number): (serviceId: string) => string {
  const spans = prepareSpanRows(database)
  const firstHourS = (Math.floor(nowS / HOUR_S) - HOURS + 1) * HOUR_S
  return (serviceId) => {
    const ofDay = spans.ofService(serviceId, { fromS: firstHourS, untilS: nowS + 1 })
    let letters = ''
    for (let hour = 0; hour < HOURS; hour += 1) {
      const fromS = firstHourS + hour * HOUR_S
      const states = new Set(
        ofDay
          .filter(
            (span, index) =>
              span.fromS < fromS + HOUR_S && (ofDay[index + 1]?.fromS ?? Number.POSITIVE_INFINITY) > fromS,
          )
          .map(({ state }) => state),
      )
      letters += LETTERS.find(([state]) => states.has(state))?.[1] ?? '-'
    }
    return letters
  }
}

function prepareCertificates(database: ResultsDatabase, nowS: number) {
  const select = database.prepare<[number, number], { host: string; notAfterS: number }>(
    `SELECT c.host, c.chain_not_after_s AS "notAfterS" FROM certificate_endpoints e
     JOIN certificates c ON c.org_id = e.org_id AND c.host = e.host AND c.port = e.port
     WHERE e.endpoint = ? AND c.last_seen_s > ?`,
  )
  return (endpoints: readonly number[]) => {
    /** The earliest expiry of each host, because several machines may serve it. */
    const ends = new Map<string, number>()
    for (const endpoint of endpoints) {
      for (const { host, notAfterS } of select.all(endpoint, nowS - DAY_S)) {
        ends.set(host, Math.min(notAfterS, ends.get(host) ?? notAfterS))
      }
    }
    return [...ends].map(([host, notAfterS]) => ({
      host,
      notAfterS,
      daysLeft: Math.floor((notAfterS - nowS) / DAY_S),
    }))
  }
}
