import type { Database } from 'better-sqlite3'
import { reasonName } from '../../../monitoring/protocol/outcomes.ts'
import { endpointState, serviceState } from '../../domain/serviceState.ts'
import { prepareSpanRows } from '../history/spanRows.ts'
import { DAY_S, HOUR_S } from '../history/storedResult.ts'
import { STATE_CODES, type StoredState, stateName } from '../file/resultsSchema.ts'
import type { ServiceNow, StateReason } from './measurements.ts'
import type { Query, SeriesNow, Sources } from './sources.ts'

/** Certificates seen within this time are current (seconds). */
const CERTIFICATE_SEEN_S = DAY_S
/** Services that are read in one turn. */
const TURN_SERVICES = 50
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

/** See `Measurements.states`. Staleness is applied by `seriesOf`, so that states are right without a running server. */
export function* readStates(
  sources: Sources,
  { orgId }: { readonly orgId: string },
): Query<readonly ServiceNow[]> {
  const services = sources.database
    .prepare<[string], ServiceColumns>(
      `SELECT s.service_id AS id, s.state, s.since_s AS sinceS, l.p95_us AS p95Us FROM service_now s
       LEFT JOIN service_latency l ON l.service_id = s.service_id WHERE s.org_id = ?`,
    )
    .all(orgId)
  const read = prepareService(sources)
  const states: ServiceNow[] = []
  for (const service of services) {
    states.push(read(service))
    if (states.length % TURN_SERVICES === 0) yield
  }
  return states
}

function prepareService({ database, nowS, seriesOf }: Sources): (service: ServiceColumns) => ServiceNow {
  const endpointsOf = database.prepare<[string, number], { number: number; id: string }>(
    'SELECT number, id FROM endpoints WHERE service_id = ? AND state <> ? ORDER BY number',
  )
  const textOf = prepareText(database)
  const certificatesOf = prepareCertificates(database, nowS)
  const hoursOf = prepareHours(database, nowS)
  return ({ id, state, sinceS, p95Us }) => {
    const endpoints = endpointsOf
      .all(id, STATE_CODES.ended)
      .map((endpoint) => ({ ...endpoint, series: seriesOf(endpoint.number) }))
    const series = endpoints.flatMap((endpoint) => endpoint.series)
    const dueS = Math.max(0, ...series.map((one) => one.state.lastDueS))
    const common = {
      id,
      lastResultS: dueS === 0 ? null : dueS,
      p95Ms: p95Us === null ? null : p95Us / 1_000,
      hours: hoursOf(id),
      certificates: certificatesOf(endpoints.map(({ number }) => number)),
    }
    if (stateName(state) === 'paused') return { ...common, state: 'paused', sinceS, reasons: [] }
    const now = serviceState(
      endpoints.map((one) => endpointState(one.series.map((each) => each.state.state))),
    )
    // A state that changed since it was written changed when the last of its series became stale.
    const changedS = Math.max(sinceS, ...series.map((each) => each.state.sinceS))
    const reasons = endpoints.flatMap((one) => one.series.flatMap((each) => reasonOf(one.id, each, textOf)))
    return { ...common, state: now, sinceS: stateName(state) === now ? sinceS : changedS, reasons }
  }
}

type TextOf = (series: number) => string | undefined

function reasonOf(
  endpointId: string,
  { number, region, state }: SeriesNow,
  textOf: TextOf,
): readonly StateReason[] {
  if (state.state === 'up') return []
  if (state.reason !== 0) {
    const reason = reasonName(state.reason)
    return [{ endpointId, region, reason, text: textOf(number) ?? reason }]
  }
  if (state.lastDueS === 0) return [{ endpointId, region, reason: 'no_result', text: 'no result yet' }]
  const since = new Date(state.lastDueS * 1_000).toISOString()
  return [{ endpointId, region, reason: 'stale', text: `no result since ${since}` }]
}

function prepareText(database: Database): TextOf {
  const newest = database
    .prepare<[number], string>('SELECT text FROM details WHERE series = ? ORDER BY due_s DESC LIMIT 1')
    .pluck()
  return (series) => newest.get(series)
}

function prepareHours(database: Database, nowS: number): (serviceId: string) => string {
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

function prepareCertificates(database: Database, nowS: number) {
  const select = database.prepare<[number, number], { host: string; notAfterS: number }>(
    `SELECT c.host, c.chain_not_after_s AS notAfterS FROM certificate_endpoints e
     JOIN certificates c ON c.org_id = e.org_id AND c.host = e.host AND c.port = e.port
     WHERE e.endpoint = ? AND c.last_seen_s > ?`,
  )
  return (endpoints: readonly number[]) => {
    /** The earliest end of each host: several machines may answer for it. */
    const ends = new Map<string, number>()
    for (const endpoint of endpoints) {
      for (const { host, notAfterS } of select.all(endpoint, nowS - CERTIFICATE_SEEN_S)) {
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
