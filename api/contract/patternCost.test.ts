import { expect, test } from 'vitest'
import { PATTERN_COST_MAX, patternCost } from './patternCost.ts'

test.each([
  ['^ok$'],
  ['"status":\\s*"(up|degraded)"'],
  ['(?i)<title>[^<]{1,200}</title>'],
  ['(?i)[a-z]{300}c'],
  ['^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$'],
  ['.{0,1000}error.{0,1000}'],
  ['(?i)(?:\\pL|\\pN|[-_.]){1,64}@(?:[\\pL\\pN-]{1,63}\\.){1,8}\\pL{2,63}'],
  ['x'.repeat(1_024)],
])('%s is cheap enough', (pattern) => {
  expect(patternCost(pattern)).toBeLessThan(PATTERN_COST_MAX)
})

test.each([
  ['a thousand instructions a hundred times', 'a{1000}'.repeat(100)],
  ['repetitions of repetitions', '(?:(?:a{10}){10}){10}(?:(?:a{10}){10}){10}'.repeat(4)],
  ['empty groups', '(){1000}'.repeat(100)],
  ['the other case of all characters', `(?i)${'[a-\u{10ffff}]'.repeat(150)}`],
  ['the other case of all characters, as code points', `(?i)${'[\\x{61}-\\x{10ffff}]'.repeat(50)}`],
  ['all letters and all other characters', `[${'\\pL\\PL'.repeat(160)}]`],
])('%s are too costly', (_what, pattern) => {
  expect(patternCost(pattern)).toBeGreaterThan(PATTERN_COST_MAX)
})

/** What patterns without classes of Unicode come to: 4 a character, 18 an instruction. */
test.each([
  ['ab', 2],
  ['a{3}', 3],
  ['a{2,5}', 5],
  ['a{2,12}', 12],
  ['a{0,}', 1],
  ['ab{3}c', 5],
  ['a{2}{3}', 6],
  ['(ab){3}', 12],
  ['x(a(b{2})c){10}', 81],
  ['x(ab', 3],
  ['a{x}', 4],
  ['a{', 2],
  ['\\{3}', 3],
  ['[a(]{2}', 2],
  ['[\\]x]', 1],
  ['[]x]', 1],
  ['[^]x]', 1],
  ['[[:alpha:]x]y', 2],
  ['[[:^alpha:](]y', 2],
  ['[ab', 1],
  ['\\x{1f600}{2}', 2],
  ['a\\', 2],
])('the repetitions, groups and classes of %s are counted', (pattern, instructions) => {
  expect(patternCost(pattern)).toBe(4 * pattern.length + 18 * instructions)
})

test.each([
  ['a class of Unicode alone', '\\pL\\p{Greek}', 2 * 60 + 18 * 2],
  ['one in a class of characters', '[\\pL]', 300 + 18],
  ['one next to another pattern', '\\PL|a', 300 + 18 * 3],
  ['one with the other case', '(?i)\\pL', 300 + 18 * 5],
])('%s costs more than a character', (_what, pattern, work) => {
  expect(patternCost(pattern)).toBe(4 * pattern.length + work)
})

test.each([
  ['[a-i]', 8],
  ['[\\x61-\\x69]', 8],
  ['[\\x{61}-\\x{69}]', 8],
  ['[\\x{e900}-\\x{1e943}]', 0x1_e943 - 0xe900],
  ['[\\x{1e942}-\\x{10ffff}]', 1],
  ['[a-\\t]', 0x1_e943 - 0x61],
  ['[\\t-a]', 0x61],
  ['[\\x{1f000}-\\x{1f001}]', 0],
])('the other case of %s costs an eighth of a unit for each code point', (range, points) => {
  expect(patternCost(`(?i)${range}`) - patternCost(`(?s)${range}`)).toBe(points / 8)
})
