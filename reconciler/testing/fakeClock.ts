import type { ControllerClock } from '../controller/schedule/clock.ts'

/** A clock that stands still until it is advanced; for tests. */
export interface FakeClock extends ControllerClock {
  /** Lets `durationMs` pass on both clocks, and whatever is due in it happen, in order. */
  readonly advance: (durationMs: number) => void
  /** Sets the wall clock (milliseconds since the epoch), as an administrator does: no interval notices. */
  readonly setWall: (wallMs: number) => void
  /** Time until the next timer (milliseconds); null when there is none. */
  readonly nextTimerMs: () => number | null
}

/** A clock that starts at `wallMs`. */
export function fakeClock(wallMs: number = Date.parse('2026-01-14T10:00:00Z')): FakeClock {
  let monotonicMs = 1_000_000
  let offsetMs = wallMs - monotonicMs
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>()
  const next = () => [...timers].sort((a, b) => a.atMs - b.atMs)[0]
  return {
    nowMs: () => monotonicMs,
    wallMs: () => monotonicMs + offsetMs,
    random: () => 0.5,
    after: (delayMs, run) => {
      const timer = { atMs: monotonicMs + Math.max(0, delayMs), run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance: (durationMs) => {
      const endMs = monotonicMs + durationMs
      for (let due = next(); due !== undefined && due.atMs <= endMs; due = next()) {
        timers.delete(due)
        monotonicMs = Math.max(monotonicMs, due.atMs)
        due.run()
      }
      monotonicMs = endMs
    },
    setWall: (ms) => {
      offsetMs = ms - monotonicMs
    },
    nextTimerMs: () => {
      const due = next()
      return due === undefined ? null : due.atMs - monotonicMs
    },
  }
}
