import { expect, test } from 'vitest'
import { IDLE_SYNC } from '../agent/testing/idleSync.ts'
import { messageProblem, readSyncResponse } from './messageProblem.ts'
import { resultRowSchema, syncRequestSchema } from './messages.ts'

const SYNC = { ...IDLE_SYNC, public_key: null }

test.each([
  [{ instance: 'canary' }, 'instance: must be a UUID'],
  [{ instance: 7 }, 'instance: must be a string, not a number'],
  [{ version: 'canary'.repeat(11) }, 'version: must have at most 64 characters'],
  [{ public_key: 'canary' }, 'public_key: must have exactly 44 characters'],
  [{ epoch: -1 }, 'epoch: must be at least 0'],
  [{ wait_ms: 1e9 }, 'wait_ms: must be at most 25000'],
  [{ protocol: 1.5 }, 'protocol: must be a whole number'],
  [{ load: 'canary' }, 'load: must be an object, not a string'],
  [{ load: { ...SYNC.load, suspect: 'canary' } }, 'load.suspect: must be true or false, not a string'],
])('a sync with %j is refused as "%s"', (changes, problem) => {
  const { error } = syncRequestSchema.safeParse({ ...SYNC, ...changes })

  expect(error === undefined ? undefined : messageProblem(error)).toBe(problem)
})

test.each([
  [[1, 1, 1, 1, 9, 0, 200, 1, 0, 1, 1, 1, 1, 1, 1], '[4]: is not a known code'],
  [[1], 'body: must have at least 15 items'],
  ['canary', 'body: must be an array, not a string'],
])('a result %j is refused as "%s"', (row, problem) => {
  const { error } = resultRowSchema.safeParse(row)

  expect(error === undefined ? undefined : messageProblem(error)).toBe(problem)
})

test('an invalid response is reported with the place of the error', () => {
  expect(() => readSyncResponse({ protocol: 1, store: 'canary' })).toThrow(
    "the server's response is invalid: store: must be a UUID",
  )
})
