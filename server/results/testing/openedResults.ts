/** Results of a folder in one process, as in the results thread. */

import type { HistoryPolicy } from '../../domain/historyPolicy.ts'
import type { ResultsPlace } from '../../store/engine.ts'
import { putMaintenance } from '../history/maintenanceRows.ts'
import { OpenHours } from '../history/openHours.ts'
import { loadLog, ResultLog } from '../history/resultLog.ts'
import { prepareIngest, type ResultsBatch } from '../ingest.ts'
import { measurementsOf } from '../measurements/measurementsOf.ts'
import { startQuery } from '../measurements/queries.ts'
import { prepareResults } from '../measurements/sources.ts'
import type { MonitoredService } from '../monitoredService.ts'
import { StateBoard } from '../stateBoard.ts'
import { upkeep } from '../upkeep.ts'
import { openTestResults } from './openTestResults.ts'
import { batchOf, type TestResult } from './resultMessages.ts'

export const STORE = '0192b1d4-5c1e-7000-8000-00000000000a'
export const ORG = '0192b1d4-5c1e-7000-8000-000000000002'
const RESULTS_MAX = 500

/** A service with one endpoint in one region, checked once a minute. */
export function monitoredService(number: number, changes: Partial<MonitoredService> = {}): MonitoredService {
  const suffix = String(number).padStart(12, '0')
  return {
    id: `0192b1d4-5c1e-7000-8000-${suffix}`,
    orgId: ORG,
    generation: 1,
    pausedAtS: null,
    intervalS: 60,
    steadyS: null,
    regions: ['eu-west-1'],
    endpoints: [{ number, id: `0192b1d4-5c1e-7000-9000-${suffix}`, timeoutMs: 10_000 }],
    ...changes,
  }
}

/**
 * Opens the results of a folder of tests or of a given place as a start does. `nowMs` times the slices; by default they
 * end after a few items, so that there are many.
 */
export function openedResults(
  place: string | ResultsPlace,
  given: Partial<HistoryPolicy> = {},
  nowMs: () => number = steps(),
) {
  const policy: HistoryPolicy = { retention: new Map(), maintenance: [], ...given }
  const { database, sqlite } = openTestResults(place)
  const board = new StateBoard(database, STORE)
  const log = new ResultLog(database, new OpenHours())
  const ingest = prepareIngest(database, board, log)
  for (const slice of loadLog(database, log.openHours, () => 0)) slice()
  putMaintenance(database, policy.maintenance)
  let appliedUpTo = 0
  const slicesOf = (nowS: number, trustedS = nowS) =>
    upkeep({ database, board, log, policy, nowMs, appliedUpTo: () => appliedUpTo, trustedS }, nowS)
  return {
    database,
    sqlite,
    board,
    update: (services: readonly MonitoredService[], nowS: number, ended: readonly string[] = []) =>
      board.transact(() => board.update({ services, ended, isWhole: false }, nowS)),
    send: (results: readonly TestResult[], nowS: number) => {
      const batches = []
      for (let at = 0; at < results.length; at += RESULTS_MAX) {
        batches.push(batchOf(STORE, results.slice(at, at + RESULTS_MAX)))
      }
      return ingest(batches, STORE, nowS * 1_000)
    },
    ingest: (batches: readonly ResultsBatch[], nowS: number) => ingest(batches, STORE, nowS * 1_000),
    /** Reports that transitions up to `sequence` are applied. */
    apply: (sequence: number): void => {
      appliedUpTo = sequence
    },
    /**
     * Runs the upkeep until `slicesMax` slices were committed; returns whether it finished. History expires by
     * `trustedS`.
     */
    keep: (nowS: number, slicesMax = Number.POSITIVE_INFINITY, trustedS = nowS): boolean => {
      let count = 0
      for (const slice of slicesOf(nowS, trustedS)) {
        if (count >= slicesMax) return false
        board.transact(slice)
        count += 1
      }
      return true
    },
    /** Runs the upkeep to its end; returns the longest time of a slice with its commit (milliseconds). */
    keepTimed: (nowS: number): number => {
      let longestMs = 0
      for (const slice of slicesOf(nowS)) {
        const startMs = performance.now()
        board.transact(slice)
        longestMs = Math.max(longestMs, performance.now() - startMs)
      }
      return longestMs
    },
    measurements: (nowS: number) => {
      const sources = {
        ...{ database, nowS },
        seriesOf: (endpoint: number) => board.seriesOf(endpoint),
        prefetchOrg: () => {},
        results: prepareResults(database, log.openHours),
      }
      return measurementsOf(
        async (name, input) => {
          const query = startQuery(sources, name, input)
          for (;;) {
            const { value, done } = query.next()
            if (done === true) return value
          }
        },
        () => () => {},
      )
    },
  }
}

/** A clock that advances by a millisecond per reading. */
function steps(): () => number {
  let nowMs = 0
  return () => {
    nowMs += 1
    return nowMs
  }
}
