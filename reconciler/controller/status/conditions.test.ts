import { expect, test } from 'vitest'
import { type ConditionType, headlineOf } from './conditions.ts'

test('the headline of a set is its most urgent condition', () => {
  const told = (...types: ConditionType[]) => headlineOf(types.map((type) => ({ type })))

  expect(told('Reconciling', 'ApprovalRequired', 'Drifted')).toBe('ApprovalRequired')
  expect(told('Suspended', 'Ready')).toBe('Suspended')
  expect(told()).toBe('Ready')
})
