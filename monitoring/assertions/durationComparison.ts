import type { DurationComparison } from '../../api/contract/assertion.ts'
import type { Duration } from '../../api/contract/duration.ts'
import { type Expectation, expectedNumber } from './numberComparison.ts'

const US_PER_SECOND = 1_000_000
const US_PER_MS = 1_000
const NANOS_PER_US = 1_000
/** Longer than any check. No check reaches a bound with more seconds, so its microseconds need not be exact. */
const SECS_MAX = 1_000_000

/** The expectation of `comparison` for a measured time in microseconds. Contract: Assertions. Pure. */
export function expectedDuration(comparison: DurationComparison): Expectation {
  if ('LessThan' in comparison)
    return expectedNumber({ LessThan: microseconds(comparison.LessThan) }, durationText)
  if ('LessOrEqual' in comparison)
    return expectedNumber({ LessOrEqual: microseconds(comparison.LessOrEqual) }, durationText)
  const [low, high] = comparison.Between
  return expectedNumber({ Between: [microseconds(low), microseconds(high)] }, durationText)
}

function microseconds({ secs, nanos }: Duration): number {
  return secs > SECS_MAX ? Number.POSITIVE_INFINITY : secs * US_PER_SECOND + nanos / NANOS_PER_US
}

/** `us` microseconds in readable form: `2.31 s`, `48.2 ms`, `640 µs`. Pure. */
export function durationText(us: number): string {
  if (us === Number.POSITIVE_INFINITY) return 'forever'
  if (us >= US_PER_SECOND) return `${decimals(us / US_PER_SECOND)} s`
  if (us >= US_PER_MS) return `${decimals(us / US_PER_MS)} ms`
  return `${decimals(us)} µs`
}

function decimals(value: number): string {
  return String(Number(value.toFixed(3)))
}
