import type { StoredState } from '../file/resultsSchema.ts'
import { DAY_S } from './storedResult.ts'

/** Seconds of a day in each state. */
export interface StateSeconds {
  readonly up: number
  readonly degraded: number
  readonly down: number
  readonly unknown: number
  readonly paused: number
  /** In a maintenance window, regardless of the state. */
  readonly maintenance: number
}

/** A state from an instant on (seconds since the epoch), until the next one begins. */
export interface StateSpan {
  readonly fromS: number
  readonly state: StoredState
}

/** An interval of seconds since the epoch; `untilS` is the first one after it. */
export interface Period {
  readonly fromS: number
  readonly untilS: number
}

/**
 * The seconds that a service or an endpoint spent in each state on `day` (since 1970), until `nowS` for the present
 * day. They add up to the length of the day so far; time before the first span is unknown. `spans` are ordered and
 * begin with the span at the start of the day, if any. Pure.
 */
export function stateSeconds(
  day: number,
  nowS: number,
  spans: readonly StateSpan[],
  maintenance: readonly Period[],
): StateSeconds {
  const whole: Period = { fromS: day * DAY_S, untilS: Math.min((day + 1) * DAY_S, nowS) }
  const seconds = { up: 0, degraded: 0, down: 0, unknown: 0, paused: 0, maintenance: 0 }
  const windows = unionOf(maintenance)
  const add = (state: StoredState, period: Period): void => {
    const part = overlap(period, whole)
    if (part <= 0) return
    const clipped = {
      fromS: Math.max(period.fromS, whole.fromS),
      untilS: Math.min(period.untilS, whole.untilS),
    }
    const inMaintenance = windows.reduce((sum, window) => sum + Math.max(0, overlap(window, clipped)), 0)
    seconds.maintenance += inMaintenance
    seconds[state === 'ended' ? 'unknown' : state] += part - inMaintenance
  }
  add('unknown', { fromS: whole.fromS, untilS: spans[0]?.fromS ?? whole.untilS })
  for (const [index, { fromS, state }] of spans.entries()) {
    add(state, { fromS, untilS: spans[index + 1]?.fromS ?? whole.untilS })
  }
  return seconds
}

/** `periods` without their overlaps, ordered. */
function unionOf(periods: readonly Period[]): readonly Period[] {
  const union: Period[] = []
  for (const period of [...periods].sort((a, b) => a.fromS - b.fromS)) {
    const last = union.at(-1)
    if (last === undefined || period.fromS > last.untilS) union.push(period)
    else union[union.length - 1] = { fromS: last.fromS, untilS: Math.max(last.untilS, period.untilS) }
  }
  return union
}

function overlap(a: Period, b: Period): number {
  return Math.min(a.untilS, b.untilS) - Math.max(a.fromS, b.fromS)
}
