import type { Regex } from './textMatcher.ts'

/**
 * Maximum work (instructions times characters) of a match in the thread of the checks, including the work to compile its
 * pattern: 11 ms in the worst measured case, at 2 to 45 ns each. A usual pattern on 2 KiB needs 50,000.
 */
const INLINE_WORK_MAX = 250_000
/**
 * The same for all matches of an organisation in a second: 90 ms in the worst case, and forty usual matches. One with
 * many expensive patterns leaves the thread to the checks of others.
 */
const ORG_WORK_PER_SECOND = 2_000_000
/** Work that takes as long as compiling for a microsecond. */
const WORK_PER_COMPILE_US = 22
const SECOND_MS = 1_000
/**
 * Number of instructions above which a pattern counts as large, and the maximum length of a body for large and for
 * other patterns (characters).
 */
const LARGE_PATTERN_INSTRUCTIONS = 100
const LARGE_PATTERN_CHARS_MAX = 262_144
const CHARS_MAX = 1_048_576

/** Decides where matches run. */
export class RegexBudget {
  readonly #nowMs: () => number
  /** Work of each organisation in the second that began at `#sinceMs`. */
  readonly #work = new Map<string, number>()
  #sinceMs = Number.NEGATIVE_INFINITY

  /** `nowMs` is a monotonic clock (milliseconds). */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The place where a match for `org` runs: here, in the matcher's thread, or nowhere, because it cannot end in time. */
  placeOfMatch({ instructions, compileUs }: Regex, text: string, org: string): 'here' | 'thread' | 'nowhere' {
    const work = instructions * text.length + WORK_PER_COMPILE_US * compileUs()
    if (work <= INLINE_WORK_MAX && this.#spend(org, work)) return 'here'
    const charsMax = instructions > LARGE_PATTERN_INSTRUCTIONS ? LARGE_PATTERN_CHARS_MAX : CHARS_MAX
    return text.length <= charsMax ? 'thread' : 'nowhere'
  }

  /** Whether `org` may do `work` more in this second. */
  #spend(org: string, work: number): boolean {
    const nowMs = this.#nowMs()
    if (nowMs - this.#sinceMs >= SECOND_MS) {
      this.#sinceMs = nowMs
      this.#work.clear()
    }
    const sum = (this.#work.get(org) ?? 0) + work
    if (sum > ORG_WORK_PER_SECOND) return false
    this.#work.set(org, sum)
    return true
  }
}
