import type { Trigger } from '../status/status.ts'

/** Shortest and longest quiet period before a run starts (milliseconds). */
export const QUIET_FIRST_MS = 400
const QUIET_LONGEST_MS = 2_000
/** Maximum delay of a run by further triggers (milliseconds). */
const DELAY_MS_MAX = 5_000
/** Relative jitter of intervals, so that sets do not all run at the same time. */
const JITTER = 0.1
/** First and longest delay after a failed run (milliseconds), before jitter. */
const RETRY_FIRST_MS = 5_000
const RETRY_LONGEST_MS = 5 * 60_000
/** Failed runs in a row after which a set counts as stalled. */
export const STALLED_AFTER = 5

/** Triggers that have not started a run yet. Times are monotonic milliseconds. */
export interface Burst {
  readonly trigger: Trigger
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
}

/** `burst` with one more trigger at `nowMs`. Pure. */
export function withTrigger(burst: Burst | null, trigger: Trigger, nowMs: number): Burst {
  return { trigger, count: (burst?.count ?? 0) + 1, firstAtMs: burst?.firstAtMs ?? nowMs, lastAtMs: nowMs }
}

/**
 * When the run for `burst` starts: after a quiet period that grows with the number of triggers, so that a single push is
 * applied at once and a series of pushes after its end. Pure.
 */
export function burstDueAtMs(burst: Burst): number {
  const quietMs = Math.min(QUIET_LONGEST_MS, QUIET_FIRST_MS * 2 ** (burst.count - 1))
  return Math.min(burst.lastAtMs + quietMs, burst.firstAtMs + DELAY_MS_MAX)
}

/** When a cycle is due for each reason (monotonic milliseconds); infinite for never. */
export interface DueTimes {
  readonly intervalAtMs: number
  readonly retryAtMs: number
  /** When a window opens. */
  readonly openingAtMs: number
}

/** Time until the next cycle (milliseconds), zero or less when it is due, and its trigger. Pure. */
export function nextCycle(
  { intervalAtMs, retryAtMs, openingAtMs }: DueTimes,
  burst: Burst | null,
  nowMs: number,
): { readonly waitMs: number; readonly trigger: Trigger } {
  const burstAtMs = burst === null ? Number.POSITIVE_INFINITY : burstDueAtMs(burst)
  const waitMs = Math.min(intervalAtMs, retryAtMs, openingAtMs, burstAtMs) - nowMs
  if (burst !== null && burstAtMs <= nowMs) return { waitMs, trigger: burst.trigger }
  return { waitMs, trigger: retryAtMs <= nowMs ? 'retry' : 'interval' }
}

/** `intervalMs` with jitter; `random` is in [0, 1). Pure. */
export function jittered(intervalMs: number, random: number): number {
  return Math.round(intervalMs * (1 - JITTER + 2 * JITTER * random))
}

/** Delay after `failures` failed runs in a row, null for none; `random` is in [0, 1). Pure. */
export function retryDelayMs(failures: number, random: number): number | null {
  if (failures === 0) return null
  const ceilingMs = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** (failures - 1))
  return Math.round(ceilingMs * (0.5 + random / 2))
}
