import type { Database } from 'better-sqlite3'
import { reasonName } from '../../monitoring/protocol/outcomes.ts'
import { regionOfSeries } from '../domain/regions.ts'
import {
  atInstant,
  endpointState,
  type SeriesState,
  type SeriesTimes,
  type State,
  serviceState,
} from '../domain/serviceState.ts'
import { type StoredState, STATE_CODES, stateName } from './resultsSchema.ts'
import { SERIES_SQL } from './stateRows.ts'

/** Certificates seen within this time are current (seconds). */
const CERTIFICATE_SEEN_S = 24 * 60 * 60
const DAY_S = 24 * 60 * 60

/** The reason of a series that is not up. */
export interface StateReason {
  readonly endpointId: string
  readonly region: string
  /** Reason of the last check; `stale` when results stopped, `no_result` before the first. */
  readonly reason: string
  /** A sentence without secrets. */
  readonly text: string
}

/** The current state of a service. Instants are seconds since the epoch. */
export interface ServiceNow {
  readonly state: State | 'paused'
  readonly sinceS: number
  readonly reasons: readonly StateReason[]
  /** When the newest result was due; `null` before the first. */
  readonly lastResultS: number | null
  readonly certificates: readonly {
    readonly host: string
    readonly notAfterS: number
    readonly daysLeft: number
  }[]
}

/** An active series with its current state. */
interface SeriesNow {
  readonly number: number
  readonly region: string
  readonly times: SeriesTimes
  readonly state: SeriesState
}

interface EndpointNow {
  readonly number: number
  readonly id: string
  readonly serviceId: string
  readonly state: StoredState
  readonly sinceS: number
}

/**
 * The services of an organisation at `nowS`, by id. Applies staleness while reading, so that states are right without a
 * running server.
 */
export function readStates(database: Database, orgId: string, nowS: number): ReadonlyMap<string, ServiceNow> {
  const services = database
    .prepare<[string], { id: string; state: number; sinceS: number }>(
      'SELECT service_id AS id, state, since_s AS sinceS FROM service_now WHERE org_id = ?',
    )
    .all(orgId)
  const endpoints = database
    .prepare<[string, number], Omit<EndpointNow, 'state'> & { state: number }>(
      `SELECT number, id, service_id AS serviceId, state, since_s AS sinceS FROM endpoints
       WHERE org_id = ? AND state <> ? ORDER BY number`,
    )
    .all(orgId, STATE_CODES.ended)
    .map((row) => ({ ...row, state: stateName(row.state) }))
  const series = readSeries(database, nowS)
  const textOf = prepareText(database)
  const certificatesOf = prepareCertificates(database, nowS)
  return new Map(
    services.map(({ id, state, sinceS }): [string, ServiceNow] => {
      const own = endpoints.filter(({ serviceId }) => serviceId === id)
      const certificates = certificatesOf(own.map(({ number }) => number))
      const known = own.map((endpoint) => ({ endpoint, series: series.get(endpoint.number) ?? [] }))
      const dueS = Math.max(
        0,
        ...known.flatMap((one) => one.series.map(({ state: { lastDueS } }) => lastDueS)),
      )
      const lastResultS = dueS === 0 ? null : dueS
      if (stateName(state) === 'paused') {
        return [id, { state: 'paused', sinceS, reasons: [], lastResultS, certificates }]
      }
      const now = serviceState(known.map((one) => endpointState(one.series.map((each) => each.state.state))))
      // A state that changed since it was written changed when the last of its series became stale.
      const turnedS = Math.max(sinceS, ...known.flatMap((one) => one.series.map((each) => each.state.sinceS)))
      const reasons = known.flatMap((one) =>
        one.series.flatMap((each) => reasonOf(one.endpoint.id, each, textOf)),
      )
      return [
        id,
        {
          state: now,
          sinceS: stateName(state) === now ? sinceS : turnedS,
          reasons,
          lastResultS,
          certificates,
        },
      ]
    }),
  )
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

/** Active series by the number of their endpoint. */
function readSeries(database: Database, nowS: number): ReadonlyMap<number, readonly SeriesNow[]> {
  const found = new Map<number, SeriesNow[]>()
  for (const row of database.prepare<[], SeriesColumns>(SERIES_SQL).iterate()) {
    if (row.endedAtS !== null) continue
    const { series: number, endpoint, intervalS, timeoutMs, endedAtS: _, ...columns } = row
    const times = { intervalS, timeoutMs }
    // True because series are stored as up, degraded, down or unknown only.
    const stored: SeriesState = { ...columns, state: stateName(columns.state) as State }
    const state = atInstant(stored, times, nowS)
    const of = found.get(endpoint) ?? []
    found.set(endpoint, of)
    of.push({ number, region: regionOfSeries(number) ?? '', times, state })
  }
  return found
}

type SeriesColumns = Omit<SeriesState, 'state'> &
  SeriesTimes & {
    readonly series: number
    readonly endpoint: number
    readonly state: number
    readonly endedAtS: number | null
  }

function prepareText(database: Database): TextOf {
  const newest = database
    .prepare<[number], string>('SELECT text FROM details WHERE series = ? ORDER BY due_s DESC LIMIT 1')
    .pluck()
  return (series) => newest.get(series)
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
