import { Cron } from 'croner'

/** A recurring period in which a set may write (`allow`) or must not (`deny`). */
export interface Window {
  readonly kind: 'allow' | 'deny'
  /** When it opens: cron with five fields, in `timeZone`. */
  readonly schedule: string
  /** How long it stays open (milliseconds). */
  readonly duration: number
  readonly timeZone: string
}

/** Whether a set may write, why, and when that changes next (milliseconds since the epoch). */
export interface WindowState {
  readonly isOpen: boolean
  readonly reason: string
  readonly changesAtMs: number | null
}

/** Maximum duration of a window (milliseconds), which bounds the search for its opening. */
const DURATION_MS_MAX = 31 * 24 * 3_600_000

/** The problem of `window` and its field; `undefined` for none. Pure. */
export function windowProblem(
  window: Pick<Window, 'schedule' | 'duration' | 'timeZone'>,
): { readonly field: 'schedule' | 'duration' | 'timeZone'; readonly message: string } | undefined {
  if (!isTimeZone(window.timeZone)) {
    return { field: 'timeZone', message: 'must be a time zone such as Europe/Berlin' }
  }
  if (window.duration > DURATION_MS_MAX) return { field: 'duration', message: 'must be at most 31 days' }
  try {
    cronOf(window)
    return undefined
  } catch {
    // The only cause is the expression.
    return { field: 'schedule', message: 'must be a cron expression with five fields, such as "0 9 * * 1-5"' }
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    // RangeError: no such zone.
    return false
  }
}

function cronOf({ schedule, timeZone }: Pick<Window, 'schedule' | 'timeZone'>): Cron {
  return new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true })
}

/**
 * Whether a set with `windows` may write at `nowMs` (wall clock): never while a deny window is open; otherwise while an allow
 * window is open, or always without allow windows. Pure.
 */
export function windowStateAt(windows: readonly Window[], nowMs: number): WindowState {
  const states = windows.map((window) => ({ window, ...openingAt(window, nowMs) }))
  const changes = states.flatMap(({ changesAtMs }) => changesAtMs ?? [])
  const changesAtMs = changes.length === 0 ? null : Math.min(...changes)
  const denying = states.find(({ window, isOpen }) => window.kind === 'deny' && isOpen)
  if (denying !== undefined) {
    return { isOpen: false, reason: `denied by the window ${worded(denying.window)}`, changesAtMs }
  }
  const allowing = states.filter(({ window }) => window.kind === 'allow')
  if (allowing.length === 0) return { isOpen: true, reason: 'no window denies it', changesAtMs }
  const open = allowing.find(({ isOpen }) => isOpen)
  return open === undefined
    ? { isOpen: false, reason: 'outside every window that allows changes', changesAtMs }
    : { isOpen: true, reason: `allowed by the window ${worded(open.window)}`, changesAtMs }
}

function worded({ schedule, timeZone }: Window): string {
  return `"${schedule}" ${timeZone}`
}

/** A window is open for its duration from each instant of its schedule, also across changes of daylight saving time. */
function openingAt(window: Window, nowMs: number) {
  const cron = cronOf(window)
  // The first opening that has not ended; one that ends exactly now has.
  const first = cron.nextRun(new Date(nowMs - window.duration))?.getTime()
  if (first === undefined) return { isOpen: false, changesAtMs: null }
  if (first > nowMs) return { isOpen: false, changesAtMs: first }
  let endsAtMs = first + window.duration
  // Overlapping openings are joined: `* * * * *` for an hour never closes.
  for (let rounds = 0; rounds < OVERLAPS_MAX; rounds += 1) {
    const next = cron.nextRun(new Date(endsAtMs - window.duration))?.getTime()
    if (next === undefined || next > endsAtMs) return { isOpen: true, changesAtMs: endsAtMs }
    endsAtMs = next + window.duration
  }
  return { isOpen: true, changesAtMs: null }
}

/** Number of joined openings from which a window counts as never closing. */
const OVERLAPS_MAX = 100

/**
 * Time until a closed window opens (milliseconds), so that pending changes need not wait for the interval. Infinite when it
 * is open or never opens. Pure.
 */
export function untilOpensMs(window: WindowState | undefined, wallMs: number): number {
  if (window === undefined || window.isOpen || window.changesAtMs === null) return Number.POSITIVE_INFINITY
  return Math.max(0, window.changesAtMs - wallMs)
}
