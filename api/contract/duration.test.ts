import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareDurations, formatDuration, NOT_A_DURATION, parseDuration } from './duration.ts'

test.each([
  ['500ms', { secs: 0, nanos: 500_000_000 }],
  ['1.5s', { secs: 1, nanos: 500_000_000 }],
  ['1m30s', { secs: 90, nanos: 0 }],
  ['0.1s', { secs: 0, nanos: 100_000_000 }],
  ['999999999ns', { secs: 0, nanos: 999_999_999 }],
  ['0s', { secs: 0, nanos: 0 }],
  ['1.25s2ns', { secs: 1, nanos: 250_000_002 }],
  ['9007199254740991s', { secs: 9_007_199_254_740_991, nanos: 0 }],
])('%s is read exactly', (text, duration) => {
  expect(parseDuration(text)).toEqual(duration)
})

test.each(['', '5', 's', '-1s', '1 s', '1.5ns', '1e3s', '9007199254740992s', '1d'])(
  '"%s" is not a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined()
  },
)

test('every duration survives a round trip through its human-readable form', () => {
  const durations = fc.record({
    secs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
  })

  fc.assert(
    fc.property(durations, (duration) => {
      expect(parseDuration(formatDuration(duration))).toEqual(duration)
    }),
  )
})

test.each([
  [{ secs: 0, nanos: 0 }, '0s'],
  [{ secs: 0, nanos: 1_001 }, '1us1ns'],
  [{ secs: 3_690, nanos: 500_000_000 }, '1h1m30s500ms'],
])('%j is formatted as %s', (duration, text) => {
  expect(formatDuration(duration)).toBe(text)
})

test('durations are in order by seconds, then by nanoseconds', () => {
  const [short, longer, longest] = [
    { secs: 1, nanos: 2 },
    { secs: 1, nanos: 3 },
    { secs: 2, nanos: 0 },
  ]

  expect([longest, short, longer].toSorted(compareDurations)).toEqual([short, longer, longest])
  expect([
    compareDurations(short, short),
    compareDurations(longer, short),
    compareDurations(short, longest),
  ]).toEqual([0, 1, -1])
})

test('a text that is not a duration is refused with an example', () => {
  expect(NOT_A_DURATION).toBe('must be a duration such as 500ms, 30s or 1m30s')
})
