/**
 * Limits of the work to compile one pattern, and all patterns of one definition: a unit is about a microsecond.
 * Ordinary patterns take some hundred. Gap G40.
 */
export const PATTERN_COST_MAX = 38_000
export const PATTERNS_COST_MAX = 5_000_000

/** Measured for the most expensive of each kind: a character, and an instruction of the program. */
const CHAR_WORK = 4
const INSTRUCTION_WORK = 18
/** A class with the ranges of Unicode: alone, and merged with others or with the other case of its letters. */
const PROPERTY_WORK = 60
const MERGED_PROPERTY_WORK = 300
/** Code points of a range that are case-folded for one unit, and the last code point with another case. */
const FOLDED_PER_UNIT = 8
const LAST_CASED = 0x1_e943

const REPETITION = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y
const CLASS = /\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]?/suy
const ESCAPE = /\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|.)?/suy
const PROPERTY = /\\[pP]/g
const RANGE = /(\\x\{[^}]*\}|\\x..|\\.|[^\\])-(\\x\{[^}]*\}|\\x..|\\.|[^\]\\])/gsu
const IGNORES_CASE = /\(\?[a-zA-Z]*i/

/**
 * Estimated work to compile `pattern`, without compiling it: RE2 has no limit of its own here, and a thousand
 * characters may produce a hundred thousand instructions. Never too low. Pure.
 */
export function patternCost(pattern: string): number {
  const ignoresCase = IGNORES_CASE.test(pattern)
  const isMerged = ignoresCase || pattern.includes('[') || pattern.includes('|')
  const properties = pattern.match(PROPERTY)?.length ?? 0
  return (
    CHAR_WORK * pattern.length +
    (isMerged ? MERGED_PROPERTY_WORK : PROPERTY_WORK) * properties +
    (ignoresCase ? foldCost(pattern) : 0) +
    INSTRUCTION_WORK * patternInstructions(pattern)
  )
}

/** Work of case-folding all ranges of `pattern`. */
function foldCost(pattern: string): number {
  let points = 0
  for (const [, low = '', high = ''] of pattern.matchAll(RANGE)) {
    points += Math.max(0, Math.min(codePointOf(high, LAST_CASED), LAST_CASED) - codePointOf(low, 0))
  }
  return points / FOLDED_PER_UNIT
}

/** The code point of `text`, an end of a range; `otherwise` for an escape without a number. */
function codePointOf(text: string, otherwise: number): number {
  const digits = /^\\x\{?([0-9a-fA-F]+)\}?$/.exec(text)?.[1]
  if (digits !== undefined) return Number.parseInt(digits, 16)
  return text.startsWith('\\') ? otherwise : (text.codePointAt(0) ?? otherwise)
}

/** Estimated instructions of the compiled `pattern`, which repetitions multiply. Pure. */
export function patternInstructions(pattern: string): number {
  /** Instructions of the open groups, the innermost last; `last` is what a repetition would repeat. */
  const open: number[] = []
  let sum = 0
  let last = 0
  const add = (count: number): void => {
    sum += count
    last = count
  }
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at]
    const length =
      lengthOf(ESCAPE, pattern, at) || lengthOf(CLASS, pattern, at) || lengthOf(REPETITION, pattern, at) || 1
    if (char === '(') {
      open.push(sum)
      sum = 0
      last = 0
    } else if (char === ')') {
      const group = sum + 2
      sum = open.pop() ?? 0
      add(group)
    } else if (char === '{' && length > 1) {
      const [, least = '0', most = least] = pattern.slice(at, at + length).match(/(\d+)(?:,(\d*))?/) ?? []
      const times = Math.max(Number(least), Number(most), 1)
      sum += last * (times - 1)
      last *= times
    } else {
      add(1)
    }
    at += length
  }
  return open.reduce((total, outer) => total + outer, sum)
}

/** Length of the match of `form` in `pattern` at `at`; 0 when there is none. */
function lengthOf(form: RegExp, pattern: string, at: number): number {
  form.lastIndex = at
  return form.exec(pattern)?.[0].length ?? 0
}
