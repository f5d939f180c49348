import { RE2JS } from 're2js'
import type { StringMatcher } from '../../api/contract/assertion.ts'
import { PATTERN_COST_MAX, patternCost } from '../../api/contract/patternCost.ts'

/**
 * A text matcher. It compares code units, is case-sensitive, and neither trims nor normalises. Contract: Assertions.
 */
export type TextMatcher =
  | {
      readonly kind: 'plain'
      readonly words: MatcherWords
      readonly operand: string
      readonly matches: (text: string) => boolean
    }
  | { readonly kind: 'regex'; readonly words: MatcherWords; readonly operand: string; readonly regex: Regex }

/** The words of a sentence about a matcher before its operand. */
export interface MatcherWords {
  /** After `expected`. */
  readonly infinitive: string
  readonly holds: string
  readonly fails: string
}

/** A regular expression that may match anywhere in a text. */
export interface Regex {
  readonly pattern: string
  /** Number of instructions of the compiled program. The work of a match is this times the characters of the text. */
  readonly instructions: number
  readonly isIn: (text: string) => boolean
}

/** Maximum number of cached programs. All are dropped at once when there are more. */
const PROGRAMS_MAX = 5_000
/** By pattern, because most endpoints of a service share patterns, and a program is larger than the rest of a check. */
const programs = new Map<string, Regex>()

const EQUALS = { infinitive: 'to be', holds: 'is', fails: 'is not' }
const CONTAINS = { infinitive: 'to contain', holds: 'contains', fails: 'does not contain' }
const STARTS = { infinitive: 'to start with', holds: 'starts with', fails: 'does not start with' }
const ENDS = { infinitive: 'to end with', holds: 'ends with', fails: 'does not end with' }
const MATCHES = { infinitive: 'to match', holds: 'matches', fails: 'does not match' }

/** The compiled form of `matcher`; `undefined` for a pattern that the API refuses (Gap G18, G40). Pure. */
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

/**
 * `pattern` compiled; `undefined` when it is not RE2 syntax, or too expensive to compile. The cost is checked first
 * (Gap G40).
 */
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
    // Every failure of the compiler is a problem with the pattern. Its message would quote the pattern, so it is
    // dropped.
    return undefined
  }
}
