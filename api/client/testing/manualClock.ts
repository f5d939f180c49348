import type { Timing } from '../limiter.ts'

export interface ManualClock extends Timing {
  /** Advances the clock; timers due meanwhile fire in order, each at its instant. */
  readonly advance: (ms: number) => Promise<void>
}

/** A clock that only moves when advanced, with the timers that wait on it. */
export function manualClock(): ManualClock {
  let nowMs = 0
  let timers: { atMs: number; run: () => void }[] = []
  return {
    nowMs: () => nowMs,
    random: () => 0,
    after: (delayMs, run) => {
      const timer = { atMs: nowMs + delayMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    async advance(ms) {
      const untilMs = nowMs + ms
      for (;;) {
        await settled()
        const due = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (due === undefined) break
        nowMs = due.atMs
        timers = timers.filter((timer) => timer !== due)
        due.run()
      }
      nowMs = untilMs
      await settled()
    },
  }
}

/** Resolves when resolved promises, and everything chained to them, have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await Promise.resolve()
}
