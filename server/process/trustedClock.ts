import type { Logger } from 'pino'
import { type ClockTrust, trustAfter } from '../results/clockTrust.ts'
import type { UpkeepStore } from '../store/store.ts'

/** Interval between looks at the clocks (milliseconds). */
const LOOK_MS = 60_000

/** Dependencies of a trusted clock. */
export interface TrustedClockParts {
  readonly store: Pick<UpkeepStore, 'lastUseMs' | 'probeWrite'>
  readonly nowMs: () => number
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  readonly log: Logger
}

/** The time by which history expires. */
export interface TrustedClock {
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Records the time in the store; a failure has no effect. */
  readonly note: () => Promise<void>
  readonly stop: () => void
}

/**
 * Follows the clock from the last use of the store on, and logs a step that is not trusted yet. A wrong clock removes
 * no history.
 */
export async function startTrustedClock({
  store,
  nowMs,
  monotonicMs,
  log,
}: TrustedClockParts): Promise<TrustedClock> {
  const lastUseMs = (await store.lastUseMs()) ?? nowMs()
  let trust: ClockTrust = { trustedMs: lastUseMs, monotonicMs: monotonicMs(), steppedAt: null }
  const look = (): number => {
    const { trustedMs, steppedAt } = trust
    trust = trustAfter(trust, { nowMs: nowMs(), monotonicMs: monotonicMs() })
    if (trust.steppedAt !== null && trust.steppedAt !== steppedAt) {
      const [clock, expected] = [trust.steppedAt.nowMs, trustedMs].map((atMs) => new Date(atMs).toISOString())
      log.warn(
        { clock, expected },
        'the clock differs by more than a day from the last use of this data: no history is removed by it until it is corrected, or has run for four hours',
      )
    }
    return trust.trustedMs
  }
  const note = (): Promise<void> => store.probeWrite(look()).catch(() => {})
  await note()
  const looks = setInterval(look, LOOK_MS)
  return { nowMs: look, note, stop: () => clearInterval(looks) }
}
