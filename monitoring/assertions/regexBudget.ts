import type { Regex } from './textMatcher.ts'

/**
 * Most instructions times characters that are matched in the thread of the checks: 11 ms at the worst of what was
 * measured, 2 to 45 ns each. A usual pattern on 2 KiB needs 50,000.
 */
const INLINE_WORK_MAX = 250_000
/** Instructions of a pattern that may see less of a body, and how much of one it and others may see (characters). */
const LARGE_PATTERN_INSTRUCTIONS = 100
const LARGE_PATTERN_CHARS_MAX = 262_144
const CHARS_MAX = 1_048_576

/** Where a match is made: here, in the matcher's thread, or nowhere, because it cannot end in time. Pure. */
export function placeOfMatch({ instructions }: Regex, text: string): 'here' | 'thread' | 'nowhere' {
  if (instructions * text.length <= INLINE_WORK_MAX) return 'here'
  const charsMax = instructions > LARGE_PATTERN_INSTRUCTIONS ? LARGE_PATTERN_CHARS_MAX : CHARS_MAX
  return text.length <= charsMax ? 'thread' : 'nowhere'
}
