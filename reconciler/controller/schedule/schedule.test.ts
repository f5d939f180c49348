import { expect, test } from 'vitest'
import { type Burst, burstDueAtMs, jittered, retryDelayMs, withTrigger } from './schedule.ts'

function burstOf(first: number, ...others: readonly number[]): Burst {
  const start = withTrigger(null, 'webhook', first)
  return others.reduce((burst, atMs) => withTrigger(burst, 'webhook', atMs), start)
}

test('one push starts a run after 0.4 s, several pushes after the last one, and never later than 5 s', () => {
  expect(burstDueAtMs(burstOf(1_000))).toBe(1_400)
  expect(burstDueAtMs(burstOf(1_000, 1_250, 1_500, 1_750, 2_000))).toBe(4_000)
  const endless = Array.from({ length: 100 }, (_, index) => 1_000 + index * 300)
  expect(burstDueAtMs(burstOf(1_000, ...endless.slice(1)))).toBe(6_000)
})

test('five pushes within a second start one run, because each postpones the run of the push before', () => {
  const pushes = [0, 250, 500, 750, 1_000]

  const isPutOff = pushes
    .slice(1)
    .every((atMs, index) => atMs < burstDueAtMs(burstOf(0, ...pushes.slice(1, index + 1))))

  expect(isPutOff).toBe(true)
})

test('intervals vary by a tenth, and failures are retried with growing delays of at most five minutes', () => {
  expect([jittered(60_000, 0), jittered(60_000, 0.5), jittered(60_000, 1)]).toEqual([54_000, 60_000, 66_000])
  expect([0, 1, 2, 3, 10].map((failures) => retryDelayMs(failures, 1))).toEqual([
    null,
    5_000,
    10_000,
    20_000,
    300_000,
  ])
  expect(retryDelayMs(1, 0)).toBe(2_500)
})
