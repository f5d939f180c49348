import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EXIT, exitCodeOf, type RunFacts } from './exitCode.ts'

/** As the documents say: what a person has to know first wins. */
const ORDER = [
  ['couldNotRun', 1],
  ['manifestsInvalid', 7],
  ['decisionNeeded', 6],
  ['approvalNeeded', 4],
  ['partial', 3],
  ['changesPending', 2],
] as const

test('Scenario 51: whatever holds at the same time, the first of 1, 7, 6, 4, 3, 2 is the exit code, and else 0', () => {
  const facts = fc.record(Object.fromEntries(ORDER.map(([fact]) => [fact, fc.boolean()])))
  fc.assert(
    fc.property(facts, (one: RunFacts) => {
      const [, code = EXIT.converged] = ORDER.find(([fact]) => one[fact] === true) ?? []
      expect(exitCodeOf(one)).toBe(code)
    }),
  )
})
