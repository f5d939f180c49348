import { expect, test } from 'vitest'
import { type Window, windowProblem, windowStateAt } from './window.ts'

const HOUR_MS = 3_600_000

function office(more: Partial<Window> = {}): Window {
  return { kind: 'allow', schedule: '0 9 * * 1-5', duration: 8 * HOUR_MS, timeZone: 'Europe/Berlin', ...more }
}

function isOpenAt(windows: readonly Window[], at: string): boolean {
  return windowStateAt(windows, Date.parse(at)).isOpen
}

test('a set without windows may always write', () => {
  expect(windowStateAt([], 0)).toEqual({
    isOpen: true,
    reason: 'no window denies it',
    changesAtMs: null,
  })
})

test('an allow window opens and closes to the minute in its own time zone, with the next change', () => {
  const at = (time: string) => windowStateAt([office()], Date.parse(time))

  // Wednesday, winter: Berlin is one hour ahead of UTC.
  expect(at('2026-01-14T07:59:59Z')).toMatchObject({
    isOpen: false,
    changesAtMs: Date.parse('2026-01-14T08:00:00Z'),
  })
  expect(at('2026-01-14T08:00:00Z')).toMatchObject({
    isOpen: true,
    changesAtMs: Date.parse('2026-01-14T16:00:00Z'),
  })
  expect(at('2026-01-14T15:59:59Z').isOpen).toBe(true)
  expect(at('2026-01-14T16:00:00Z').isOpen).toBe(false)
  expect(at('2026-01-17T10:00:00Z')).toMatchObject({
    isOpen: false,
    changesAtMs: Date.parse('2026-01-19T08:00:00Z'),
  })
})

test('a deny window wins over an allow window', () => {
  const lunch = office({ kind: 'deny', schedule: '0 12 * * *', duration: HOUR_MS })

  expect(isOpenAt([office(), lunch], '2026-01-14T11:30:00Z')).toBe(false)
  expect(isOpenAt([office(), lunch], '2026-01-14T12:00:00Z')).toBe(true)
  expect(isOpenAt([lunch], '2026-01-14T20:00:00Z')).toBe(true)
})

test('Scenario 49: a window keeps its length and its local hour across both daylight saving changes', () => {
  const night = office({ schedule: '0 1 * * *', duration: 3 * HOUR_MS })

  // 29 March 2026, 02:00 becomes 03:00: from 00:00Z, three hours long.
  expect(
    ['2026-03-28T23:59:00Z', '2026-03-29T00:00:00Z', '2026-03-29T02:59:00Z', '2026-03-29T03:00:00Z'].map(
      (at) => isOpenAt([night], at),
    ),
  ).toEqual([false, true, true, false])
  // 25 October 2026, 03:00 becomes 02:00: from 23:00Z of the day before.
  expect(
    ['2026-10-24T22:59:00Z', '2026-10-24T23:00:00Z', '2026-10-25T01:59:00Z', '2026-10-25T02:00:00Z'].map(
      (at) => isOpenAt([night], at),
    ),
  ).toEqual([false, true, true, false])
})

test('Scenario 46: windows follow the wall clock, even when it jumps back', () => {
  const times = [
    '2026-01-14T10:00:00Z',
    '2027-01-14T10:00:00Z',
    '2025-01-11T10:00:00Z',
    '2026-01-14T10:00:00Z',
  ]

  expect(times.map((at) => isOpenAt([office()], at))).toEqual([true, true, false, true])
})

test('a window whose openings overlap stays open', () => {
  const always = office({ schedule: '* * * * *', duration: HOUR_MS })

  expect(windowStateAt([always], Date.parse('2026-01-14T10:00:30Z'))).toMatchObject({
    isOpen: true,
    changesAtMs: null,
  })
})

test('an invalid window is reported with its field', () => {
  const fields = [
    office({ schedule: 'sometimes' }),
    office({ schedule: '0 0 9 * * *' }),
    office({ timeZone: 'Mars/Olympus' }),
    office({ duration: 40 * 24 * HOUR_MS }),
    office(),
  ]

  expect(fields.map((window) => windowProblem(window)?.field)).toEqual([
    'schedule',
    'schedule',
    'timeZone',
    'duration',
    undefined,
  ])
})
