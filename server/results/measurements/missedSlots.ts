import { gridOf, slotAfter, slotKey } from '../../../monitoring/schedule/grid.ts'
import { regionOfSeries } from '../../domain/regions.ts'
import { HOUR_S } from '../history/storedResult.ts'
import type { Sources } from './sources.ts'

/** How long after the timeout of its check a result may still arrive (seconds). */
const LATE_S_MAX = 15
/** Time within which the first check of a definition starts (seconds): it replaces slots before it. */
const FIRST_CHECK_S = 2

interface Definition {
  readonly endpointId: string
  readonly changedAtS: number
  readonly intervalS: number
  readonly timeoutMs: number
  readonly endedAtS: number | null
}

/** The slots of a series without a result. */
export interface MissedSlots {
  /** False for a series that never existed, or ended days ago: it has no recent results. */
  readonly isKnown: boolean
  /** Due times in an hour (since 1970). Only of the current definition: earlier ones are not stored. */
  readonly inHour: (hour: number) => readonly number[]
  /** Number of results in an hour without missed slots; 0 for hours that began before the definition. */
  readonly expectedIn: (hour: number) => number
}

/** Prepares the search for slots of `series` without a result: no agent ran, or agents were overloaded. */
export function prepareMissedSlots({ database, nowS, results }: Sources, series: number): MissedSlots {
  const definition = database
    .prepare<[number], Definition>(
      `SELECT e.id AS "endpointId", s.changed_at_s AS "changedAtS", s.interval_s AS "intervalS",
         s.timeout_ms AS "timeoutMs", s.ended_at_s AS "endedAtS"
       FROM series_states s JOIN endpoints e ON e.number = s.endpoint WHERE s.series = ?`,
    )
    .get(series)
  if (definition === undefined) return { isKnown: false, inHour: () => [], expectedIn: () => 0 }
  const { endpointId, changedAtS, timeoutMs, endedAtS } = definition
  const grid = gridOf(endpointId, regionOfSeries(series) ?? '', definition.intervalS)
  // A pause ends the series, and a resumption is a change of its definition.
  const untilS = Math.min(endedAtS ?? nowS, nowS - timeoutMs / 1_000 - LATE_S_MAX)
  // A first check may take the place of the slot that follows it within a quarter of an interval.
  const quarterS = Math.ceil(grid.intervalMs / 4_000)

  const inHour = (hour: number): readonly number[] => {
    const missed: number[] = []
    const endS = Math.min(untilS, (hour + 1) * HOUR_S)
    const beginS = Math.max(changedAtS, hour * HOUR_S)
    if (beginS >= endS) return missed
    const dueS = new Set(
      [...results(series, hour - 1), ...results(series, hour)].map((result) => result.dueS),
    )
    const isTaken = (slotS: number): boolean => {
      for (let atS = slotS; atS >= slotS - quarterS; atS -= 1) if (dueS.has(atS)) return true
      return false
    }
    // Subtracts 1 ms to include a slot that is due exactly at the beginning.
    const first = slotAfter(grid, Math.max(beginS, changedAtS + FIRST_CHECK_S) * 1_000 - 1)
    for (let dueMs = first; dueMs < endS * 1_000; dueMs += grid.intervalMs) {
      const slotS = slotKey(dueMs)
      if (!isTaken(slotS)) missed.push(slotS)
    }
    return missed
  }
  return {
    isKnown: true,
    inHour,
    expectedIn: (hour) => (hour * HOUR_S < changedAtS ? 0 : Math.ceil((HOUR_S * 1_000) / grid.intervalMs)),
  }
}
