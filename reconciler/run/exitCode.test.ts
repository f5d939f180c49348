import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  combinedExitCode,
  EXIT,
  exitCodeOf,
  type RunFacts,
  type RunFindings,
  runExitCode,
} from './exitCode.ts'

/** As the documents say: what a person has to know first wins. */
const ORDER = [
  ['couldNotRun', 1],
  ['manifestsInvalid', 7],
  ['decisionNeeded', 6],
  ['approvalNeeded', 4],
  ['partial', 3],
  ['changesPending', 2],
] as const

test('Scenario 51: the exit code is the first of 1, 7, 6, 4, 3 and 2 that applies, and else 0', () => {
  const facts = fc.record(Object.fromEntries(ORDER.map(([fact]) => [fact, fc.boolean()])))
  fc.assert(
    fc.property(facts, (one: RunFacts) => {
      const [, code = EXIT.converged] = ORDER.find(([fact]) => one[fact] === true) ?? []
      expect(exitCodeOf(one)).toBe(code)
    }),
  )
})

const LOOKED: RunFindings = { purpose: 'look', problems: [], usableManifests: 2 }
const WROTE: RunFindings = { ...LOOKED, purpose: 'write' }
const WRONG = { code: 'E_VALUE' }
const NO_SECRET = { code: 'E_SECRET' }

test.each<[string, RunFindings, number]>([
  ['nothing to do', WROTE, 0],
  ['every change made', { ...WROTE, outcomes: [{ result: 'done' }] }, 0],
  ['changes that the exit code need not report', { ...LOOKED, hasChanges: false }, 0],
  ['changes, or drift', { ...LOOKED, hasChanges: true }, 2],
  ['a change that failed', { ...WROTE, outcomes: [{ result: 'done' }, { result: 'failed' }] }, 3],
  ['a change that was not tried', { ...WROTE, outcomes: [{ result: 'skipped' }] }, 3],
  ['a change that cannot be made', { ...WROTE, blocked: [{ needsDecision: false }] }, 3],
  ['a problem in one manifest of an apply', { ...WROTE, problems: [WRONG], usableManifests: 1 }, 3],
  ['a problem in one manifest of a plan', { ...LOOKED, problems: [WRONG], usableManifests: 1 }, 7],
  ['a plan without a secret', { ...LOOKED, problems: [NO_SECRET], usableManifests: 0 }, 3],
  ['an apply without any usable manifest', { ...WROTE, problems: [NO_SECRET], usableManifests: 0 }, 7],
  ['a safety limit', { ...WROTE, tripped: [{ brake: 'maxDeletes' }] }, 4],
  ['a suspension', { ...WROTE, tripped: [{ brake: 'suspended' }] }, 4],
  ['a closed window', { ...WROTE, tripped: [{ brake: 'windowClosed' }] }, 4],
  [
    'removals that wait for valid manifests',
    { ...WROTE, problems: [WRONG], usableManifests: 1, tripped: [{ brake: 'invalidSource' }] },
    3,
  ],
  ['manifests of another state', { ...WROTE, tripped: [{ brake: 'otherSource' }] }, 6],
  ['a pending decision', { ...LOOKED, blocked: [{ needsDecision: true }] }, 6],
  ['a commit in doubt', { ...WROTE, isCommitInDoubt: true, tripped: [{ brake: 'historyRewritten' }] }, 6],
  ['an error', { ...WROTE, failed: 1, outcomes: [{ result: 'skipped' }] }, 1],
  ['a state locked by another run', { ...WROTE, failed: 5 }, 5],
  ['an interruption', { ...WROTE, interrupted: 130, failed: 1 }, 130],
])('%s', (_situation, run, exitCode) => {
  expect(runExitCode(run)).toBe(exitCode)
})

test.each([
  [[], 0],
  [[0, 0], 0],
  [[0, 3, 4], 4],
  [[4, 6, 3], 6],
  [[1, 7], 1],
  [[1, 5], 5],
  [[5, 143], 143],
])('several sets with the exit codes %j end the program with %i', (codes, exitCode) => {
  expect(combinedExitCode(codes)).toBe(exitCode)
})
