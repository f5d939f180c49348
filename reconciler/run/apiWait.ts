import type { Timing } from '../../api/client/limiter.ts'
import { type Waiting, WaitObserver } from '../../api/client/waiting.ts'
import { ExpectedFailure } from './failure.ts'

/** Default time limit of a run (milliseconds): 10,000 changes at the rate of one key take 33 minutes. */
export const RUN_MS_MAX = 3_600_000
/** How long a run continues without a usable response of the API (milliseconds). */
export const NO_RESPONSE_MS_MAX = 600_000
/** Time before a wait is first reported, and time between two checks (milliseconds): together at most 15 s. */
const REPORT_AFTER_MS = 10_000
const CHECK_MS = 5_000
/** How often a continuing wait is reported again (milliseconds). */
const REPORT_AGAIN_MS = 60_000

/** The time limit of a run, or of its wait for the API, is reached. Requests already sent are finished; no more are sent. */
export class ApiTimeout extends ExpectedFailure {
  override readonly name = 'ApiTimeout'
  readonly code = 'E_TIMEOUT'
  /** Whether responses were 429 at the end. */
  readonly isThrottled: boolean

  constructor(waiting: Waiting | null, afterMs: number, limit: string) {
    const why = waiting === null ? '' : `; last, ${waiting.reason}`
    super(
      `timed out after ${durationText(afterMs)}, ${limit}${why}: no more requests are sent, completed changes are kept; check that no other client uses up the rate limit of the key and that the API is up, then run this again`,
    )
    this.isThrottled = waiting?.kind === 'throttled'
  }
}

/** Monotonic and wall-clock milliseconds, and a timer that returns its cancellation. */
type WaitClock = Omit<Timing, 'random'> & { readonly wallMs: () => number }

/** The time limits of a run, for its client. */
export interface ApiWait {
  readonly observer: WaitObserver
  /** Aborted with an ApiTimeout when the time is over. */
  readonly signal: AbortSignal
  /** The reported wait that has not ended; null when there is none. */
  readonly reported: () => WaitReport | null
  readonly stop: () => void
}

/** The reason of a wait, for people, and its start (wall clock, milliseconds). */
export interface WaitReport extends Pick<Waiting, 'kind' | 'reason'> {
  readonly sinceMs: number
}

/** The time limits of a run, and the receiver of its wait reports. */
export interface WaitOptions {
  readonly clock: WaitClock
  /** How long the run may take (milliseconds). */
  readonly timeoutMs: number
  readonly onWait: (report: WaitReport) => void
  /** The observer of a client that lives longer than the run; a new one otherwise. */
  readonly observer?: WaitObserver
}

/**
 * Watches the requests of one run, from now until `stop`: reports a wait within 15 seconds and then every minute, and
 * ends all waits when the run has taken `timeoutMs`, or the API has given no useful response for ten minutes.
 */
export function watchApiWait({ clock, timeoutMs, onWait, observer: given }: WaitOptions): ApiWait {
  const observer = given ?? new WaitObserver(clock.nowMs)
  const over = new AbortController()
  const startedAtMs = clock.nowMs()
  let reportedAtMs = Number.NEGATIVE_INFINITY
  let last: { readonly waitingSinceMs: number; readonly report: WaitReport } | null = null
  const check = (): void => {
    const nowMs = clock.nowMs()
    const { waiting } = observer
    const waitedMs = waiting === null ? 0 : nowMs - waiting.sinceMs
    const end = endOf(waiting, { tookMs: nowMs - startedAtMs, waitedMs, timeoutMs })
    if (end !== null) {
      over.abort(end)
      return
    }
    if (waiting !== null && waitedMs >= REPORT_AFTER_MS && nowMs - reportedAtMs >= REPORT_AGAIN_MS) {
      reportedAtMs = nowMs
      const sinceMs = clock.wallMs() - waitedMs
      last = { waitingSinceMs: waiting.sinceMs, report: { ...waiting, sinceMs } }
      onWait(last.report)
    }
    arm()
  }
  let cancel = (): void => {}
  const arm = (): void => {
    cancel = clock.after(Math.max(0, Math.min(CHECK_MS, startedAtMs + timeoutMs - clock.nowMs())), check)
  }
  arm()
  const reported = (): WaitReport | null => {
    const { waiting } = observer
    return waiting !== null && waiting.sinceMs === last?.waitingSinceMs ? last.report : null
  }
  return { observer, signal: over.signal, reported, stop: () => cancel() }
}

/** The timeout of a run that has taken `tookMs` and has waited for `waitedMs`; null before a limit. */
function endOf(
  waiting: Waiting | null,
  { tookMs, waitedMs, timeoutMs }: Readonly<Record<'tookMs' | 'waitedMs' | 'timeoutMs', number>>,
): ApiTimeout | null {
  if (tookMs >= timeoutMs)
    return new ApiTimeout(waiting, timeoutMs, 'the time limit of the run (--timeout, or timeout of the set)')
  if (waitedMs < NO_RESPONSE_MS_MAX) return null
  return new ApiTimeout(waiting, waitedMs, 'the longest time without a useful response of the API')
}

/** `waiting for the API since 2026-01-14T10:00:00Z: the API responded with 429…`, for one line. Pure. */
export function waitText({ sinceMs, reason }: WaitReport): string {
  return `waiting for the API since ${new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z')}: ${reason}`
}

function durationText(ms: number): string {
  const secs = Math.round(ms / 1_000)
  return secs < 60 || secs % 60 !== 0 ? `${secs} s` : `${secs / 60} min`
}
