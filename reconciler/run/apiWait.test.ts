import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fakeClock.ts'
import { ApiTimeout, type WaitReport, waitText, watchApiWait } from './apiWait.ts'

const START = '2026-01-14T10:00:00Z'
const HOUR_MS = 3_600_000

function watched(timeoutMs: number) {
  const clock = fakeClock(Date.parse(START))
  const reports: string[] = []
  const onWait = (report: WaitReport) => reports.push(waitText(report))
  const wait = watchApiWait({ clock, timeoutMs, onWait })
  return { clock, wait, reports }
}

const forever = () => new Promise<never>(() => {})

test('a wait is reported once within 15 seconds, with its reason and since when, and again every minute', () => {
  const { clock, wait, reports } = watched(HOUR_MS)
  void wait.observer.during(forever)
  wait.observer.failed('throttled', 'the API responded with 429')

  clock.advance(9_000)
  expect(reports).toEqual([])
  clock.advance(6_000)
  expect(reports).toEqual([`waiting for the API since ${START}: the API responded with 429`])
  clock.advance(50_000)
  expect(reports).toHaveLength(1)
  clock.advance(15_000)
  expect(reports).toHaveLength(2)
})

test('a run whose requests succeed reports no wait', () => {
  const { clock, wait, reports } = watched(HOUR_MS)
  void wait.observer.during(forever)
  for (let count = 0; count < 30; count += 1) {
    clock.advance(8_000)
    wait.observer.responded()
  }

  expect([reports, wait.signal.aborted]).toEqual([[], false])
})

test.each([
  ['ten minutes without a usable response', HOUR_MS, 600_000, 'timed out after 10 min, the longest time'],
  [
    'its time limit',
    7_000,
    7_000,
    'timed out after 7 s, the time limit of the run (--timeout, or timeout of the set)',
  ],
])('a run ends after %s', (_what, timeoutMs, endsAfterMs, words) => {
  const { clock, wait } = watched(timeoutMs)
  void wait.observer.during(forever)
  wait.observer.failed('throttled', 'the API responded with 429')

  clock.advance(endsAfterMs - 1)
  expect(wait.signal.aborted).toBe(false)
  clock.advance(1)

  expect(wait.signal.reason).toBeInstanceOf(ApiTimeout)
  expect(wait.signal.reason).toMatchObject({ isThrottled: true, message: expect.stringContaining(words) })
  expect(clock.nextTimerMs()).toBe(null)
})

test('a run that has ended reports no wait', () => {
  const { clock, wait } = watched(7_000)
  wait.stop()
  clock.advance(HOUR_MS)

  expect([wait.signal.aborted, clock.nextTimerMs()]).toEqual([false, null])
})
