import { expect, test } from 'vitest'
import { compareNames } from './naturalOrder.ts'

test('names are in natural order, whatever the locale', () => {
  const names = ['web-10', 'ä', 'web-2', 'z', 'web-1']

  expect(names.toSorted(compareNames)).toEqual(['ä', 'web-1', 'web-2', 'web-10', 'z'])
})

test('names that compare as equal still have a fixed order', () => {
  expect([compareNames('web-01', 'web-1'), compareNames('web-1', 'web-01'), compareNames('a', 'a')]).toEqual([
    -1, 1, 0,
  ])
})
