import { expect, test } from 'vitest'
import { type ConditionType, headlineOf } from './conditions.ts'

test('the headline of a set is its most urgent condition', () => {
  const headline = (...types: ConditionType[]) => headlineOf(types.map((type) => ({ type })))

  expect(headline('Reconciling', 'ApprovalRequired', 'Drifted')).toBe('ApprovalRequired')
  expect(headline('Suspended', 'Ready')).toBe('Suspended')
  expect(headline()).toBe('Ready')
})
