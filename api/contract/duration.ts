/** A length of time as the contract carries it: whole seconds plus nanoseconds. Contract: Call. */
export interface Duration {
  readonly secs: number
  readonly nanos: number
}

const NANOS_PER_SECOND = 1_000_000_000n

/** Units of the human form, largest first, in nanoseconds. */
const UNITS = [
  ['h', 3_600n * NANOS_PER_SECOND],
  ['m', 60n * NANOS_PER_SECOND],
  ['s', NANOS_PER_SECOND],
  ['ms', 1_000_000n],
  ['us', 1_000n],
  ['ns', 1n],
] as const

const UNIT_NANOS: ReadonlyMap<string, bigint> = new Map(UNITS)
/** Source of the regular expression that a duration matches, without anchors; arithmetic refuses a few more. */
export const DURATION_PATTERN = '(?:\\d+(?:\\.\\d{1,9})?(?:ns|us|ms|s|m|h))+'
const FORM = new RegExp(`^${DURATION_PATTERN}$`)
const PART = /(\d+)(?:\.(\d{1,9}))?(ns|us|ms|s|m|h)/g

/** The form of a duration, in words. */
export const DURATION_FORM = 'a duration such as 500ms, 30s or 1m30s'

/** The problem of a text that is not a duration. */
export const NOT_A_DURATION = `must be ${DURATION_FORM}`

/**
 * The duration in `text` (`500ms`, `1.5s`, `1m30s`; units ns, us, ms, s, m, h), or `undefined` when it is none: another
 * form, a fraction of a nanosecond, or more seconds than a safe integer holds.
 *
 * Exact: integer arithmetic throughout, so `0.1s` is 100,000,000 ns. Pure.
 */
export function parseDuration(text: string): Duration | undefined {
  if (!FORM.test(text)) return undefined
  let total = 0n
  for (const [, whole = '0', fraction = '', unit = ''] of text.matchAll(PART)) {
    const unitNanos = UNIT_NANOS.get(unit) ?? 0n
    const scaled = BigInt(fraction === '' ? 0 : fraction) * unitNanos
    const divisor = 10n ** BigInt(fraction.length)
    if (scaled % divisor !== 0n) return undefined
    total += BigInt(whole) * unitNanos + scaled / divisor
  }
  const secs = total / NANOS_PER_SECOND
  if (secs > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return { secs: Number(secs), nanos: Number(total % NANOS_PER_SECOND) }
}

/**
 * The shortest human form of `duration` that `parseDuration` reads back exactly: `800ms`, `1m30s`, `0s`.
 * Pure.
 */
export function formatDuration(duration: Duration): string {
  let rest = BigInt(duration.secs) * NANOS_PER_SECOND + BigInt(duration.nanos)
  if (rest === 0n) return '0s'
  let text = ''
  for (const [unit, unitNanos] of UNITS) {
    const count = rest / unitNanos
    if (count > 0n) text += `${count}${unit}`
    rest %= unitNanos
  }
  return text
}

/** Negative, zero or positive as `a` is shorter than, equal to or longer than `b`. Pure. */
export function compareDurations(a: Duration, b: Duration): number {
  return a.secs - b.secs || a.nanos - b.nanos
}
