import { expect, test } from 'vitest'
import { timestamp } from './environment.ts'

test('an instant is ISO 8601 in UTC with milliseconds, also after another one', () => {
  const [first, second] = [Date.UTC(2026, 0, 2, 3, 4, 5, 6), Date.UTC(2027, 0, 1)]

  expect([timestamp(0), timestamp(first), timestamp(first), timestamp(second), timestamp(first)]).toEqual([
    '1970-01-01T00:00:00.000Z',
    '2026-01-02T03:04:05.006Z',
    '2026-01-02T03:04:05.006Z',
    '2027-01-01T00:00:00.000Z',
    '2026-01-02T03:04:05.006Z',
  ])
})
