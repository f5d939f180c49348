import type { Regex } from './textMatcher.ts'

/**
 * Maximum work (instructions times characters) of a match in the thread of the checks: 11 ms in the worst measured
 * case, at 2 to 45 ns each. A usual pattern on 2 KiB needs 50,000.
 */
const INLINE_WORK_MAX = 250_000
/**
 * Number of instructions above which a pattern counts as large, and the maximum length of a body for large and for
 * other patterns (characters).
 */
const LARGE_PATTERN_INSTRUCTIONS = 100
const LARGE_PATTERN_CHARS_MAX = 262_144
const CHARS_MAX = 1_048_576

/** The place where a match runs: here, in the matcher's thread, or nowhere, because it cannot end in time. Pure. */
export function placeOfMatch({ instructions }: Regex, text: string): 'here' | 'thread' | 'nowhere' {
  if (instructions * text.length <= INLINE_WORK_MAX) return 'here'
  const charsMax = instructions > LARGE_PATTERN_INSTRUCTIONS ? LARGE_PATTERN_CHARS_MAX : CHARS_MAX
  return text.length <= charsMax ? 'thread' : 'nowhere'
}
