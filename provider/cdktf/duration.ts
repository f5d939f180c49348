import { Token } from 'cdktf'

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type Whole = `${bigint}`
type Nanoseconds = `${Whole}ns`
type Microseconds = `${Whole}us${'' | Nanoseconds}` | Nanoseconds
type Milliseconds = `${Whole}ms${'' | Microseconds}` | Microseconds
type Seconds = `${Whole}s${'' | Milliseconds}` | Milliseconds
type Minutes = `${Whole}m${'' | Seconds}` | Seconds
type Hours = `${Whole}h${'' | Minutes}` | Minutes
type Fraction = `${Whole}.${Whole}${'h' | 'm' | 's' | 'ms' | 'us' | 'ns'}`
/** `${bigint}` lets a minus pass: what starts with a digit has none. */
type Positive = `${Digit}${string}`

type WholeSeconds = `${Whole}s`
type WholeMinutes = `${Whole}m${'' | WholeSeconds}` | WholeSeconds
type WholeHours = `${Whole}h${'' | WholeMinutes}` | WholeMinutes

/** A duration: `800ms`, `1.5s`, `1m30s`. Units from the largest down: h, m, s, ms, us, ns. */
export type Duration = (Hours | Fraction) & Positive

/** A duration in whole seconds: `30s`, `1m30s`, `2h`. */
export type Interval = WholeHours & Positive

/**
 * Declares `text` to be a duration, for values that are known only at run time, such as `${seconds}s` or a token. The
 * compiler cannot check it; the program does when it runs, and `terraform validate` checks tokens.
 */
export function duration(text: string): Interval {
  // True by the caller's declaration. An interval is a duration too, so the result is valid for both.
  return text as Interval
}

const UNIT_SEQUENCE = /^(?=\d)(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?(?:\d+us)?(?:\d+ns)?$/
const FRACTION = /^\d+\.\d+(?:h|m|s|ms|us|ns)$/
const WHOLE_SECONDS = /^(?=\d)(?:\d+h)?(?:\d+m)?(?:\d+s)?$/

/**
 * Validates `text`, whose type also permits signs and hexadecimal numbers. Throws, with the format, when it is no
 * duration. A token is accepted: Terraform checks its value.
 */
export function checkedDuration(text: Duration): Duration {
  if (Token.isUnresolved(text) || UNIT_SEQUENCE.test(text) || FRACTION.test(text)) return text
  throw new Error(
    `"${text}" is not a duration: write it from the largest unit down, such as 30s, 1m30s or 1.5s`,
  )
}

/** As `checkedDuration`, in whole seconds. */
export function checkedInterval(text: Interval): Interval {
  if (Token.isUnresolved(text) || WHOLE_SECONDS.test(text)) return text
  throw new Error(`"${text}" is not an interval: write it in whole seconds, such as 30s, 1m30s or 2h`)
}
