import { expect, test } from 'vitest'
import { PATTERN_WORK_MAX, patternWork } from './patternWork.ts'

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
  expect(patternWork(pattern)).toBeLessThan(PATTERN_WORK_MAX)
})

test.each([
  ['a thousand instructions a hundred times', 'a{1000}'.repeat(100)],
  ['repetitions of repetitions', '(?:(?:a{10}){10}){10}(?:(?:a{10}){10}){10}'.repeat(4)],
  ['empty groups', '(){1000}'.repeat(100)],
  ['the other case of everything', `(?i)${'[a-\u{10ffff}]'.repeat(150)}`],
  ['the other case of everything, in numbers', `(?i)${'[\\x{61}-\\x{10ffff}]'.repeat(50)}`],
  ['the letters of all alphabets, and all else', `[${'\\pL\\PL'.repeat(160)}]`],
])('%s are too much', (_what, pattern) => {
  expect(patternWork(pattern)).toBeGreaterThan(PATTERN_WORK_MAX)
})
