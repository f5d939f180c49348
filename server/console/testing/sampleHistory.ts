import { join } from 'node:path'
import Database from 'better-sqlite3'
import { OUTCOMES, REASONS } from '../../../monitoring/protocol/outcomes.ts'
import { regionOfSeries, seriesOfEndpoint } from '../../domain/regions.ts'
import { RESULTS_FILE, STATE_CODES, type StoredState } from '../../results/file/resultsSchema.ts'
import { sqliteResults } from '../../results/file/sqliteResults.ts'
import { rollUp } from '../../results/history/hourRollup.ts'
import { prepareHourRows } from '../../results/history/hourRows.ts'
import { DAY_S, HOUR_S, type StoredResult } from '../../results/history/storedResult.ts'

const DAYS = 90
/** Hours with latencies. */
const HOURS = 7 * 24
const CHECKS_IN_AN_HOUR = 20
/** Milliseconds that the regions are away from the target, in their order. */
const AWAY_MS = [0, 35, 80]

/** A time that a service was not up: `agoS` seconds before now, for `forS` seconds. */
export interface PastTrouble {
  readonly agoS: number
  readonly forS: number
  readonly state: StoredState
}

/** What a service is given a past of. */
export interface SampleService {
  readonly id: string
  readonly regions: readonly string[]
  readonly latencyMs: number
  readonly troubles: readonly PastTrouble[]
}

/** Writes ninety days of states and a week of latencies into the results of a server that has checked these services. */
export function addSampleHistory(dataDir: string, services: readonly SampleService[], nowS: number): void {
  const database = new Database(join(dataDir, RESULTS_FILE))
  const hours = prepareHourRows(sqliteResults(database))
  const endpointOf = database
    .prepare<[string], number>('SELECT number FROM endpoints WHERE service_id = ?')
    .pluck()
  const first = database
    .prepare<[string], number>('SELECT min(from_s) FROM service_spans WHERE service_id = ?')
    .pluck()
  const addSpan = database.prepare('INSERT OR IGNORE INTO service_spans VALUES (?, ?, ?)')
  const setLatency = database.prepare('INSERT OR REPLACE INTO service_latency VALUES (?, ?)')
  database.transaction(() => {
    for (const { id, regions, latencyMs, troubles } of services) {
      const sinceS = first.get(id) ?? nowS
      const spans: [number, StoredState][] = [[nowS - (DAYS - 1) * DAY_S, 'up']]
      for (const { agoS, forS, state } of troubles) {
        spans.push([nowS - agoS, state], [nowS - agoS + forS, 'up'])
      }
      for (const [fromS, state] of spans) if (fromS < sinceS) addSpan.run(id, fromS, STATE_CODES[state])
      setLatency.run(id, latencyMs * 1_300)
      const lastHour = Math.floor(nowS / HOUR_S)
      for (const series of seriesOfEndpoint(endpointOf.get(id) ?? 0)) {
        const place = regions.indexOf(regionOfSeries(series) ?? '')
        if (place < 0) continue
        for (let hour = lastHour - HOURS; hour < lastHour; hour += 1) {
          hours.put(series, hour, rollUp(resultsOf(hour, latencyMs + (AWAY_MS[place] ?? 0))))
        }
      }
    }
  })()
  database.close()
}

/** Results of an hour, slower by day than by night. */
function resultsOf(hour: number, latencyMs: number): readonly StoredResult[] {
  return Array.from({ length: CHECKS_IN_AN_HOUR }, (_, check) => {
    const load = 1 + 0.35 * Math.sin(((hour - 8) / 24) * 2 * Math.PI) + 0.25 * Math.sin(hour * 1.7 + check)
    const totalUs = Math.round(latencyMs * 1_000 * load)
    const share = (part: number) => Math.round(totalUs * part)
    return {
      ...{
        dueS: hour * HOUR_S + check * 180,
        generation: 1,
        outcome: OUTCOMES.up,
        reason: REASONS.none,
        status: 200,
        attempts: 1,
      },
      ...{ flags: 0, lateMs: 1, totalUs, dnsUs: share(0.03), connectUs: share(0.08), tlsUs: share(0.17) },
      ...{ waitUs: share(0.68), bodyUs: share(0.04), failed: 0, firstReason: 0, firstTotalUs: 0 },
    }
  })
}
