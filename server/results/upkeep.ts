import type { HistoryPolicy, Retention } from '../domain/historyPolicy.ts'
import { RETENTION_MIN } from '../domain/historyPolicy.ts'
import { SET_BACK_S_MAX } from '../domain/serviceState.ts'
import { prepareMeta } from './database/meta.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { compact, readFrontier } from './history/compaction.ts'
import { removeDeleted, removeEnded } from './history/removal.ts'
import type { ResultLog } from './history/resultLog.ts'
import { expire, removeAhead } from './history/retention.ts'
import { rollDays, rollLatencies } from './history/rollDays.ts'
import { inSlices, type Slices } from './history/slices.ts'
import { DAY_S, hourOf } from './history/storedResult.ts'
import type { StateBoard } from './stateBoard.ts'

/** Dependencies of the upkeep. */
export interface UpkeepParts {
  readonly database: ResultsDatabase
  readonly board: StateBoard
  readonly log: ResultLog
  readonly policy: HistoryPolicy
  /** A monotonic clock (milliseconds). */
  readonly nowMs: () => number
  /** Sequence of the newest applied transition: later ones are kept regardless of their age. */
  readonly appliedUpTo: () => number
  /** The time by which history expires (seconds since the epoch): a wrong clock must not remove it. */
  readonly trustedS: number
}

/**
 * The upkeep of the results at `nowS`, in slices between which ingest runs: writes the newest due time of each series,
 * so that a start reads only the newest part of the log; removes deleted services; compacts; rolls up; removes expired
 * history.
 */
export function* upkeep(parts: UpkeepParts, nowS: number): Slices {
  const { database, board, log, policy, nowMs, appliedUpTo, trustedS } = parts
  const expiryS = Math.min(nowS, trustedS)
  const retentionOf = (orgId: string): Retention => policy.retention.get(orgId) ?? RETENTION_MIN
  yield* writeSeries(database, board, nowS, nowMs)
  yield* removeDeleted(database, nowMs, (series) => {
    log.openHours.dropSeries(series)
    board.forgetSeries(series)
  })
  yield* compact(
    {
      ...{ database, nowMs, openHours: log.openHours },
      retentionDaysOf: (series) => {
        const known = board.find(series)
        return known === undefined ? undefined : retentionOf(known.orgId).resultsDays
      },
      onFrontier: (untilS) => log.setFrontier(untilS),
    },
    nowS,
  )
  yield* rollLatencies(database, hourOf(readFrontier(database)), nowMs)
  yield* rollDays(database, expiryS, nowMs)
  const series = board.seriesNumbers().map((number) => ({
    number,
    retention: retentionOf(board.find(number)?.orgId ?? ''),
  }))
  yield* expire(database, expiryS, series, { nowMs, appliedUpTo })
  yield* removeAhead(database, Math.max(nowS, trustedS) + SET_BACK_S_MAX)
  yield* removeEnded(database, (orgId) => expiryS - retentionOf(orgId).hoursDays * DAY_S, nowMs)
}

function* writeSeries(
  database: ResultsDatabase,
  board: StateBoard,
  nowS: number,
  nowMs: () => number,
): Slices {
  yield* inSlices(board.seriesNumbers(), nowMs, (number) => board.writeSeries(number))
  const putMeta = prepareMeta(database)
  yield () => {
    putMeta('series written at', String(nowS))
  }
}
