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

/** A length of time: `800ms`, `1.5s`, `1m30s`. Units from the largest down: h, m, s, ms, us, ns. */
export type Duration = (Hours | Fraction) & Positive

/** A length of time in whole seconds: `30s`, `1m30s`, `2h`. */
export type Interval = WholeHours & Positive

/**
 * Takes `text` for a duration: for what only the run knows, such as a variable's value or `${seconds}s`. The
 * compiler has nothing to say of it; `terraform validate` has, where Terraform knows the value.
 */
export function duration(text: string): Interval {
  // True by the caller's word. An interval is a duration too, so that the result fits wherever either is asked for.
  return text as Interval
}
