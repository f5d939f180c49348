import { RE2JS } from 're2js'
import type { StringMatcher } from '../../api/contract/assertion.ts'
import { PATTERN_COST_MAX, patternCost, patternInstructions } from '../../api/contract/patternCost.ts'

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

/**
 * A regular expression that may match anywhere in a text. It is compiled when it is first used, which may take 40 ms (Gap
 * G40) and a hundred times the memory of the pattern.
 */
export interface Regex {
  readonly pattern: string
  /** Estimated number of instructions of the program. The work of a match is this times the characters of the text. */
  readonly instructions: number
  /** Estimated microseconds to compile the pattern, the next time that it is used; 0 when its program is cached. */
  readonly compileUs: () => number
  /** `undefined` when the pattern is not RE2 syntax. */
  readonly isIn: (text: string) => boolean | undefined
}

/**
 * Maximum cost of all cached programs together, and their maximum number: 30 MB. All are dropped at once when there are
 * more.
 */
const PROGRAMS_COST_MAX = 5_000_000
const PROGRAMS_MAX = 5_000
/** By pattern, because most endpoints of a service share patterns. `undefined` for one that is not RE2 syntax. */
const programs = new Map<string, RE2JS | undefined>()
let programsCost = 0

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
  const regex = regexOf(matcher.Regex)
  return regex === undefined ? undefined : { kind: 'regex', words: MATCHES, operand: matcher.Regex, regex }
}

function plain(words: MatcherWords, operand: string, matches: (text: string) => boolean): TextMatcher {
  return { kind: 'plain', words, operand, matches }
}

/** `pattern` to be compiled; `undefined` when it is too expensive to compile (Gap G40). */
export function regexOf(pattern: string): Regex | undefined {
  const cost = patternCost(pattern)
  if (cost > PATTERN_COST_MAX) return undefined
  return {
    pattern,
    instructions: patternInstructions(pattern),
    compileUs: () => (programs.has(pattern) ? 0 : cost),
    isIn: (text) => programOf(pattern, cost)?.test(text),
  }
}

function programOf(pattern: string, cost: number): RE2JS | undefined {
  if (programs.has(pattern)) return programs.get(pattern)
  let program: RE2JS | undefined
  try {
    program = RE2JS.compile(pattern)
  } catch {
    // Every failure of the compiler is a problem with the pattern. Its message would quote the pattern, so it is
    // dropped.
  }
  if (programs.size >= PROGRAMS_MAX || programsCost + cost > PROGRAMS_COST_MAX) {
    programs.clear()
    programsCost = 0
  }
  programs.set(pattern, program)
  programsCost += cost
  return program
}
