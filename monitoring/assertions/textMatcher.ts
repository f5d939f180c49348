import { RE2JS } from 're2js'
import type { StringMatcher } from '../../api/contract/assertion.ts'
import { PATTERN_COST_MAX, patternCost } from '../../api/contract/patternCost.ts'

/** A matcher of texts: code units are compared, case counts, nothing is trimmed or normalised. Contract: Assertions. */
export type TextMatcher =
  | {
      readonly kind: 'plain'
      readonly words: MatcherWords
      readonly operand: string
      readonly matches: (text: string) => boolean
    }
  | { readonly kind: 'regex'; readonly words: MatcherWords; readonly operand: string; readonly regex: Regex }

/** How a sentence about a matcher goes on, up to its operand. */
export interface MatcherWords {
  /** After `expected`. */
  readonly infinitive: string
  readonly holds: string
  readonly fails: string
}

/** A regular expression, found anywhere in a text. */
export interface Regex {
  readonly pattern: string
  /** Instructions of the compiled program: work is these times the characters of a text. */
  readonly instructions: number
  readonly isIn: (text: string) => boolean
}

/** Compiled programs that are kept: all of them are dropped at once, because a dropped one costs a compilation. */
const PROGRAMS_MAX = 5_000
/** By pattern, because most endpoints of a service share theirs, and a program is larger than all else of a check. */
const programs = new Map<string, Regex>()

const EQUALS = { infinitive: 'to be', holds: 'is', fails: 'is not' }
const CONTAINS = { infinitive: 'to contain', holds: 'contains', fails: 'does not contain' }
const STARTS = { infinitive: 'to start with', holds: 'starts with', fails: 'does not start with' }
const ENDS = { infinitive: 'to end with', holds: 'ends with', fails: 'does not end with' }
const MATCHES = { infinitive: 'to match', holds: 'matches', fails: 'does not match' }

/** The matcher that `matcher` describes; `undefined` for a pattern that the API refuses (Gap G18, G40). Pure. */
export function textMatcher(matcher: StringMatcher): TextMatcher | undefined {
  if ('Equals' in matcher) return plain(EQUALS, matcher.Equals, (text) => text === matcher.Equals)
  if ('Contains' in matcher)
    return plain(CONTAINS, matcher.Contains, (text) => text.includes(matcher.Contains))
  if ('StartsWith' in matcher)
    return plain(STARTS, matcher.StartsWith, (text) => text.startsWith(matcher.StartsWith))
  if ('EndsWith' in matcher) return plain(ENDS, matcher.EndsWith, (text) => text.endsWith(matcher.EndsWith))
  const regex = compileRegex(matcher.Regex)
  return regex === undefined ? undefined : { kind: 'regex', words: MATCHES, operand: matcher.Regex, regex }
}

function plain(words: MatcherWords, operand: string, matches: (text: string) => boolean): TextMatcher {
  return { kind: 'plain', words, operand, matches }
}

/** `pattern` compiled; `undefined` when it is no RE2, or too costly to compile. Its cost is judged first (Gap G40). */
export function compileRegex(pattern: string): Regex | undefined {
  const known = programs.get(pattern)
  if (known !== undefined) return known
  if (patternCost(pattern) > PATTERN_COST_MAX) return undefined
  try {
    const program = RE2JS.compile(pattern)
    const regex = { pattern, instructions: program.programSize(), isIn: (text: string) => program.test(text) }
    if (programs.size >= PROGRAMS_MAX) programs.clear()
    programs.set(pattern, regex)
    return regex
  } catch {
    // Every failure of the compiler is a statement about the pattern, which its message would quote.
    return undefined
  }
}
