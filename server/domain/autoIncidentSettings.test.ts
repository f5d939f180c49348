import { expect, test } from 'vitest'
import {
  fieldsOf,
  settingsOf,
  settingsProblem,
  settingsRefusal,
  steadyS,
  windowS,
} from './autoIncidentSettings.ts'

const minute = { interval_secs: 60 }

test.each([
  [{ threshold: 0, windowMinutes: 10 }, 'the threshold must be a whole number from 1 to 100'],
  [{ threshold: 101, windowMinutes: 10 }, 'the threshold must be a whole number from 1 to 100'],
  [{ threshold: 1.5, windowMinutes: 10 }, 'the threshold must be a whole number from 1 to 100'],
  [{ threshold: 1, windowMinutes: 0 }, 'the window must be a whole number of minutes from 1 to 1440'],
  [{ threshold: 1, windowMinutes: 1_441 }, 'the window must be a whole number of minutes from 1 to 1440'],
  [{ threshold: 1, windowMinutes: 1 }, undefined],
  [{ threshold: 100, windowMinutes: 1_440 }, undefined],
])('%j as settings: %s', (settings, problem) => {
  expect(settingsProblem(settings)).toBe(problem)
})

test('a threshold whose rounds do not fit into the window is refused with the reason', () => {
  expect(settingsRefusal({ threshold: 10, windowMinutes: 10 }, minute)).toBeUndefined()
  expect(settingsRefusal({ threshold: 11, windowMinutes: 10 }, minute)).toBe(
    '11 rounds of 60 s do not fit into a window of 10 min: choose a longer window or a lower threshold',
  )
  expect(settingsRefusal({ threshold: 1, windowMinutes: 1 }, { interval_secs: 61 })).toBe(
    '1 round of 61 s does not fit into a window of 1 min: choose a longer window or a lower threshold',
  )
  expect(settingsRefusal({ threshold: 60, windowMinutes: 1 }, { interval_secs: 0 })).toBeUndefined()
})

test('the settings of a service can be written to its fields and read back', () => {
  const on = fieldsOf({ threshold: 3, windowMinutes: 10 })
  const off = fieldsOf(null)

  expect(on).toEqual({
    auto_incident_failure_threshold: 3,
    auto_incident_window_minutes: 10,
    auto_incident_enabled: true,
  })
  expect(off).toEqual({
    auto_incident_failure_threshold: null,
    auto_incident_window_minutes: null,
    auto_incident_enabled: false,
  })
  expect([settingsOf(on), settingsOf(off)]).toEqual([{ threshold: 3, windowMinutes: 10 }, null])
})

test('an interval that grows later lengthens the window, so that the threshold stays within reach', () => {
  const settings = { threshold: 3, windowMinutes: 10 }

  expect([60, 150, 300].map((interval_secs) => windowS(settings, { interval_secs }))).toEqual([
    600, 600, 1_200,
  ])
})

test('the steady time is two intervals, or the window up to ten minutes', () => {
  const steady = (windowMinutes: number, interval_secs: number) =>
    steadyS({ threshold: 1, windowMinutes }, { interval_secs })

  expect([steady(3, 60), steady(60, 60), steady(1, 60), steady(60, 900)]).toEqual([180, 600, 120, 1_800])
})
