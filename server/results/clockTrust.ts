/** Largest step of a clock that needs no confirmation (milliseconds). */
export const STEP_MS_MAX = 24 * 60 * 60 * 1_000
/**
 * How long a clock must run after a larger step before it is trusted (milliseconds): far longer than a machine takes to
 * set it, and shorter than a working day, for a server that runs only on those.
 */
const STEADY_MS = 4 * 60 * 60 * 1_000

/** The instants of a look at the clocks (milliseconds). */
export interface Clocks {
  /** Since the epoch. */
  readonly nowMs: number
  readonly monotonicMs: number
}

/** The time by which history expires, and a step of the clock that is not trusted yet. */
export interface ClockTrust {
  /** The trusted time at `monotonicMs` (milliseconds since the epoch). */
  readonly trustedMs: number
  readonly monotonicMs: number
  /** The first look after the clock took a large step; `null` while the clock is trusted. */
  readonly steppedAt: Clocks | null
}

/**
 * `trust` after a look at the clocks. A clock that differs by more than STEP_MS_MAX from the time that has passed since
 * the last look is trusted after it ran for STEADY_MS without another such step. Until then the trusted time continues
 * without it. Pure.
 */
export function trustAfter(trust: ClockTrust, clocks: Clocks): ClockTrust {
  const { nowMs, monotonicMs } = clocks
  const expectedMs = trust.trustedMs + monotonicMs - trust.monotonicMs
  if (!isStep(nowMs - expectedMs)) return { trustedMs: nowMs, monotonicMs, steppedAt: null }
  const { steppedAt: known } = trust
  const isSteady = known !== null && !isStep(nowMs - known.nowMs - (monotonicMs - known.monotonicMs))
  const steppedAt = isSteady ? known : clocks
  return monotonicMs - steppedAt.monotonicMs >= STEADY_MS
    ? { trustedMs: nowMs, monotonicMs, steppedAt: null }
    : { trustedMs: expectedMs, monotonicMs, steppedAt }
}

function isStep(differenceMs: number): boolean {
  return Math.abs(differenceMs) > STEP_MS_MAX
}
