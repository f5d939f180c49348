import { expect, test } from 'vitest'
import { OUTCOMES, outcomeName, REASONS, reasonName } from './outcomes.ts'

test('each outcome and each reason has its own number', () => {
  expect(Object.values(OUTCOMES).map(outcomeName)).toEqual(Object.keys(OUTCOMES))
  expect(Object.values(REASONS).map(reasonName)).toEqual(Object.keys(REASONS))
})
