import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

test.each([
  ['500ms', { secs: 0, nanos: 500_000_000 }],
  ['1.5s', { secs: 1, nanos: 500_000_000 }],
  ['1m30s', { secs: 90, nanos: 0 }],
  ['0.1s', { secs: 0, nanos: 100_000_000 }],
  ['999999999ns', { secs: 0, nanos: 999_999_999 }],
  ['0s', { secs: 0, nanos: 0 }],
])('%s is read exactly', (text, duration) => {
  expect(parseDuration(text)).toEqual(duration)
})

test.each(['', '5', 's', '-1s', '1 s', '1.5ns', '1e3s', '9007199254740992s', '1d'])(
  '"%s" is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined()
  },
)

test('every duration survives its human form', () => {
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
