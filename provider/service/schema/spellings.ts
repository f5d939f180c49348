/** Equality of different spellings of a value. */
import { compareDurations, parseDuration } from '../../../api/contract/duration.ts'
import { optional } from '../../protocol/authoring/schema.ts'

/** Whether bounds are equal durations, index by index. */
export function sameDurations(prior: readonly string[], next: readonly string[]): boolean {
  return prior.length === next.length && prior.every((text, index) => sameDuration(text, next[index] ?? ''))
}

/** Header names are case-insensitive. Contract: Assertions. */
export function sameHeaderName(prior: string, next: string): boolean {
  return prior.toLowerCase() === next.toLowerCase()
}

/** `60s` and `1m` are equal durations, so that replacing one with the other is no change. */
export function sameDuration(prior: string, next: string): boolean {
  const a = parseDuration(prior)
  const b = parseDuration(next)
  return a !== undefined && b !== undefined && compareDurations(a, b) === 0
}

/** An optional attribute that contains a duration, such as `30s`. Pure. */
export function durationText(description: string) {
  return { ...optional('string', description), equal: sameDuration } as const
}
