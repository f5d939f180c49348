import { expect, test } from 'vitest'
import { type ClockTrust, STEP_MS_MAX, trustAfter } from './clockTrust.ts'

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 365 * DAY_MS
const NOW_MS = Date.UTC(2026, 0, 1)
const TRUSTED: ClockTrust = { trustedMs: NOW_MS, monotonicMs: 0, steppedAt: null }

/** The trust after an hourly look for `hours`, at a clock that differs by `offsetMs`. */
function lookHourly(trust: ClockTrust, hours: number, offsetMs: number): ClockTrust {
  let after = trust
  for (let hour = 1; hour <= hours; hour += 1) {
    const monotonicMs = trust.monotonicMs + hour * HOUR_MS
    after = trustAfter(after, { nowMs: NOW_MS + monotonicMs + offsetMs, monotonicMs })
  }
  return after
}

test.each([-STEP_MS_MAX, -HOUR_MS, 0, HOUR_MS, STEP_MS_MAX])(
  'a step of %i ms is followed at once',
  (offsetMs) => {
    const after = lookHourly(TRUSTED, 1, offsetMs)

    expect(after).toEqual({ trustedMs: NOW_MS + HOUR_MS + offsetMs, monotonicMs: HOUR_MS, steppedAt: null })
  },
)

test.each([-56 * YEAR_MS, -STEP_MS_MAX - 1, STEP_MS_MAX + 1, 10 * YEAR_MS])(
  'a step of %i ms is followed after four hours',
  (offsetMs) => {
    const before = lookHourly(TRUSTED, 4, offsetMs)
    const after = lookHourly(TRUSTED, 5, offsetMs)

    expect(before.trustedMs).toBe(NOW_MS + 4 * HOUR_MS)
    expect(after.trustedMs).toBe(NOW_MS + 5 * HOUR_MS + offsetMs)
  },
)

test('a clock that is corrected within four hours is trusted at once, and its wrong time never was', () => {
  const wrong = lookHourly(TRUSTED, 3, 10 * YEAR_MS)
  const corrected = lookHourly(wrong, 1, 0)

  expect(wrong.trustedMs).toBe(NOW_MS + 3 * HOUR_MS)
  expect(corrected).toEqual({
    trustedMs: NOW_MS + 4 * HOUR_MS,
    monotonicMs: 4 * HOUR_MS,
    steppedAt: null,
  })
})

test('each further step begins the four hours again', () => {
  const first = lookHourly(TRUSTED, 4, 10 * YEAR_MS)
  const second = lookHourly(first, 4, -10 * YEAR_MS)

  expect(second.trustedMs).toBe(NOW_MS + 8 * HOUR_MS)
})

test('a server that runs for eight hours a day, and not at weekends, follows the clock each Monday', () => {
  const atOpening = { trustedMs: NOW_MS, monotonicMs: 0, steppedAt: null }

  const afterWeekend = lookHourly(atOpening, 8, 64 * HOUR_MS)

  expect(afterWeekend.trustedMs).toBe(NOW_MS + (64 + 8) * HOUR_MS)
})
