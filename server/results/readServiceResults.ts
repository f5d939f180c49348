import type { Database } from 'better-sqlite3'
import { outcomeName, reasonName } from '../../monitoring/protocol/outcomes.ts'
import { gridOf, slotAfter, slotKey } from '../../monitoring/schedule/grid.ts'
import { regionOfSeries } from '../domain/regions.ts'
import { STATE_CODES } from './resultsSchema.ts'

/** How long after the timeout of its check the result of a slot may still arrive (seconds). */
const LATE_S_MAX = 15

/** A result with names in place of numbers. */
export interface ServiceResult {
  /** When it was due (seconds since the epoch). */
  readonly atS: number
  readonly region: string
  readonly endpointId: string
  readonly outcome: string
  /** A reason of a check; `not_checked` for a slot that has no result. */
  readonly reason: string
  /** `null` without a response. */
  readonly status: number | null
  readonly attempts: number
  /** Microseconds. */
  readonly phases: Readonly<Record<(typeof PHASES)[number], number>>
}

/** Phases of a check in their order. */
export const PHASES = ['dns', 'connect', 'tls', 'wait', 'body', 'total'] as const

/** Selects results of a service. */
export interface ResultsWanted {
  readonly serviceId: string
  readonly fromS: number
  readonly nowS: number
  /** Whether to leave out results that are up. */
  readonly isFailedOnly: boolean
}

interface SeriesOfService {
  readonly number: number
  readonly endpoint: number
  readonly endpointId: string
  readonly changedAtS: number
  readonly intervalS: number
  readonly timeoutMs: number
  readonly endedAtS: number | null
}

/** The results of a service, the newest first. A slot of what is checked now that has no result is unknown. */
export function readServiceResults(database: Database, wanted: ResultsWanted): readonly ServiceResult[] {
  const series = database
    .prepare<[string], SeriesOfService>(
      `SELECT s.series AS number, s.endpoint, e.id AS endpointId, s.changed_at_s AS changedAtS,
         s.interval_s AS intervalS, s.timeout_ms AS timeoutMs, s.ended_at_s AS endedAtS
       FROM endpoints e JOIN series_states s ON s.endpoint = e.number WHERE e.service_id = ?`,
    )
    .all(wanted.serviceId)
  const stored = readStored(database, wanted.fromS, new Map(series.map((one) => [one.number, one])))
  const results = [...stored, ...series.flatMap((one) => missedSlots(database, one, stored, wanted))]
  return results
    .filter(({ outcome }) => !wanted.isFailedOnly || outcome !== 'up')
    .sort((a, b) => b.atS - a.atS || (a.region < b.region ? -1 : 1))
}

type LogRow = Record<
  (typeof PHASES)[number] | 'atS' | 'series' | 'outcome' | 'reason' | 'status' | 'attempts',
  number
>

function readStored(
  database: Database,
  fromS: number,
  series: ReadonlyMap<number, SeriesOfService>,
): readonly ServiceResult[] {
  const select = database.prepare<[number, string], LogRow>(
    `SELECT due_s AS atS, series, outcome, reason, status, attempts, dns_us AS dns, connect_us AS connect, tls_us AS tls,
       wait_us AS wait, body_us AS body, total_us AS total
     FROM log WHERE due_s >= ? AND series IN (SELECT value FROM json_each(?))`,
  )
  return select.all(fromS, JSON.stringify([...series.keys()])).map((row) => ({
    atS: row.atS,
    region: regionOfSeries(row.series) ?? '',
    endpointId: series.get(row.series)?.endpointId ?? '',
    outcome: outcomeName(row.outcome),
    reason: reasonName(row.reason),
    status: row.status === 0 ? null : row.status,
    attempts: row.attempts,
    phases: {
      dns: row.dns,
      connect: row.connect,
      tls: row.tls,
      wait: row.wait,
      body: row.body,
      total: row.total,
    },
  }))
}

/**
 * Slots of `series` without a result: no program ran, or it could not keep up. Those of an earlier definition are not
 * known any more.
 */
function missedSlots(
  database: Database,
  series: SeriesOfService,
  stored: readonly ServiceResult[],
  { fromS, nowS }: ResultsWanted,
): readonly ServiceResult[] {
  const region = regionOfSeries(series.number) ?? ''
  const { endpointId, intervalS } = series
  const grid = gridOf(endpointId, region, intervalS)
  const isPaused = preparePaused(database, series.endpoint)
  const dueS = new Set(
    stored.filter((one) => one.endpointId === endpointId && one.region === region).map(({ atS }) => atS),
  )
  // A first check may take the place of the slot that follows it within a quarter of an interval.
  const quarterS = Math.ceil(grid.intervalMs / 4_000)
  const isTaken = (slotS: number): boolean => {
    for (let atS = slotS; atS >= slotS - quarterS; atS -= 1) if (dueS.has(atS)) return true
    return false
  }
  const untilS = Math.min(series.endedAtS ?? nowS, nowS - series.timeoutMs / 1_000 - LATE_S_MAX)
  const missed: ServiceResult[] = []
  const beginS = Math.max(fromS, series.changedAtS)
  for (let dueMs = slotAfter(grid, beginS * 1_000); dueMs < untilS * 1_000; dueMs += grid.intervalMs) {
    const atS = slotKey(dueMs)
    if (isTaken(atS) || isPaused(atS)) continue
    const phases = { dns: 0, connect: 0, tls: 0, wait: 0, body: 0, total: 0 }
    const unknown = { outcome: 'unknown', reason: 'not_checked', status: null, attempts: 0, phases }
    missed.push({ atS, region, endpointId, ...unknown })
  }
  return missed
}

function preparePaused(database: Database, endpoint: number): (atS: number) => boolean {
  const stateAt = database
    .prepare<[number, number], number>(
      'SELECT state FROM spans WHERE endpoint = ? AND from_s <= ? ORDER BY from_s DESC LIMIT 1',
    )
    .pluck()
  return (atS) => {
    const state = stateAt.get(endpoint, atS)
    return state === STATE_CODES.paused || state === STATE_CODES.ended
  }
}
