import { RE2JS } from 're2js'
import { beforeEach, expect, test, vi } from 'vitest'
import { compileAssertions } from './compileAssertions.ts'
import { RegexBudget } from './regexBudget.ts'
import { type Regex, regexOf } from './textMatcher.ts'

/** Takes 30 ms to compile. */
const EXPENSIVE = '\\pL'.repeat(330)

let nowMs: number
let budget: RegexBudget
beforeEach(() => {
  nowMs = 0
  budget = new RegexBudget(() => nowMs)
})

function regex(pattern: string): Regex {
  const found = regexOf(pattern)
  if (found === undefined) throw new Error(`${pattern} is too expensive`)
  return found
}

test.each([
  ['a usual pattern on a page', 'status: (ok|fine)$', 2_048, 'here'],
  ['a usual pattern on a long page', 'status: (ok|fine)$', 1_048_576, 'thread'],
  ['a pattern that is expensive to compile', EXPENSIVE, 1, 'thread'],
  ['a large pattern on the longest text that it may see', '[a-z]{300}c', 262_144, 'thread'],
  ['a large pattern on a longer text', '[a-z]{300}c', 262_145, 'nowhere'],
])('%s is matched: %s', (_name, pattern, length, place) => {
  expect(budget.placeOfMatch(regex(pattern), 'a'.repeat(length), 'org')).toBe(place)
})

test('many expensive matches of an organisation leave the thread of the checks to others', () => {
  const costly = (org: string) => budget.placeOfMatch(regex('[a-z]{100}c'), 'a'.repeat(2_000), org)
  const places = Array.from({ length: 50 }, () => costly('greedy'))

  const ofOther = costly('other')
  nowMs = 1_000
  const later = costly('greedy')

  expect([places[0], places.at(-1), ofOther, later]).toEqual(['here', 'thread', 'here', 'here'])
})

test('assertions are prepared without compiling their patterns, which may take 40 ms each', () => {
  const compile = vi.spyOn(RE2JS, 'compile')
  const patterns = Array.from({ length: 50 }, (_, index) => `${EXPENSIVE}${index}`)

  const assertions = compileAssertions(patterns.map((Regex) => ({ Body: { matcher: { Regex } } })))
  const compiled = compile.mock.calls.length
  compile.mockRestore()

  expect({ assertions: assertions.length, compiled }).toEqual({ assertions: 50, compiled: 0 })
})

test('a pattern that is not RE2 syntax neither matches nor fails', () => {
  expect(regex('(?=a)').isIn('a')).toBe(undefined)
})
