import { expect, onTestFinished, test, vi } from 'vitest'
import { CLIENT_RATE, Limiter, PAUSE_MS_MAX, systemTiming } from './limiter.ts'
import { manualClock } from './testing/manualClock.ts'

/** Whole milliseconds in which one more request is earned. */
const EARNED_MS = Math.ceil(CLIENT_RATE.refillIntervalMs)

/** Queues `count` requests that get a response at once. */
function passRequests(limiter: Limiter, count: number): { passed: number[] } {
  const passed: number[] = []
  const pass = async (index: number): Promise<void> => {
    await limiter.pass('in-order')
    passed.push(index)
    limiter.ended()
  }
  for (let i = 0; i < count; i += 1) void pass(i)
  return { passed }
}

test('an ended wait leaves no timer that would keep the process alive', async () => {
  const timers = new Set<() => void>()
  const limiter = new Limiter(undefined, {
    nowMs: () => 0,
    random: () => 0,
    after: (_delayMs, run) => {
      timers.add(run)
      return () => timers.delete(run)
    },
  })
  limiter.refused(8_000)
  const stop = new AbortController()
  const waiting = limiter.pass('in-order', stop.signal)
  expect(timers.size).toBe(1)

  stop.abort(new Error('over'))

  await expect(waiting).rejects.toThrow('over')
  expect(timers.size).toBe(0)
})

test('a new limiter passes 20 requests at once and then one every 200 ms, in order', async () => {
  const timing = manualClock()
  const { passed } = passRequests(new Limiter(undefined, timing), 23)

  await timing.advance(0)
  expect(passed.length).toBe(20)
  await timing.advance(EARNED_MS - 1)
  expect(passed.length).toBe(20)
  await timing.advance(1)
  expect(passed.length).toBe(21)
  await timing.advance(2 * EARNED_MS)
  expect(passed).toEqual([...Array(23).keys()])
})

test('a token is refilled from the time of a response, not before it', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  let passed = 0
  for (let i = 0; i < 22; i += 1) void limiter.pass('in-order').then(() => (passed += 1))

  await timing.advance(60_000)
  expect(passed).toBe(20)
  limiter.ended()
  await timing.advance(EARNED_MS - 1)
  expect(passed).toBe(20)
  await timing.advance(1)
  expect(passed).toBe(21)
})

test('a run that starts with a partly spent burst uses the allowance that the first response reports', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  await limiter.pass('in-order')
  limiter.ended()
  limiter.accepted(7)

  const { passed } = passRequests(limiter, 20)

  await timing.advance(0)
  expect(passed.length).toBe(7)
  await timing.advance(EARNED_MS)
  expect(passed.length).toBe(8)
})

test('the remaining allowance in a response counts only when no other request was in flight', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  await Promise.all([limiter.pass('in-order'), limiter.pass('in-order')])
  for (const remaining of [0, 0]) {
    limiter.ended()
    limiter.accepted(remaining)
  }

  const { passed } = passRequests(limiter, 20)

  await timing.advance(0)
  expect(passed.length).toBe(18)
})

test('the lane "next" overtakes the queue', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  const { passed } = passRequests(limiter, 22)
  void limiter.pass('next').then(() => passed.push(-1))

  await timing.advance(EARNED_MS)

  expect(passed.at(-1)).toBe(-1)
})

test('Scenario 52: a 429 pauses every request, twice as long each time, and at least as long as the server asks', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  limiter.refused(undefined)
  const { passed } = passRequests(limiter, 1)

  await timing.advance(249)
  expect(passed).toEqual([])
  limiter.refused(undefined)
  await timing.advance(499)
  expect(passed).toEqual([])
  await timing.advance(1)
  expect(passed).toEqual([0])
  limiter.refused(3_000)
  const later = passRequests(limiter, 1)
  await timing.advance(2_999)
  expect(later.passed).toEqual([])
  await timing.advance(1)
  expect(later.passed).toEqual([0])
})

test('after any number of 429s a limiter waits for at most two maximum pauses, unless the server asks for more', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)

  for (let refusals = 0; refusals < 10; refusals += 1) limiter.refused(undefined)

  expect(limiter.expectedWaitMs).toBeLessThanOrEqual(2 * PAUSE_MS_MAX)
})

test('an aborted request leaves the queue at once and spends nothing', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  passRequests(limiter, 20)
  const stop = new AbortController()
  const aborted = limiter.pass('in-order', stop.signal)
  const { passed } = passRequests(limiter, 1)

  stop.abort(new Error('stopped'))

  await expect(aborted).rejects.toThrow('stopped')
  expect(limiter.waiting).toBe(1)
  await timing.advance(EARNED_MS)
  expect(passed).toEqual([0])
})

test('after an accepted request the next 429 starts with the shortest pause again', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  for (let i = 0; i < 4; i += 1) limiter.refused(undefined)
  await timing.advance(10_000)

  limiter.accepted()
  limiter.refused(undefined)
  const { passed } = passRequests(limiter, 1)

  await timing.advance(249)
  expect(passed).toEqual([])
  await timing.advance(1)
  expect(passed).toEqual([0])
})

test('Scenario 33: after a 429 requests continue at half the rate, and speed up again while they are accepted', async () => {
  const timing = manualClock()
  const limiter = new Limiter(undefined, timing)
  limiter.refused(undefined)
  limiter.refused(undefined)
  await timing.advance(500)
  const { passed } = passRequests(limiter, 100)
  await timing.advance(0)
  expect(passed.length).toBe(1)
  await timing.advance(2 * EARNED_MS - 2)
  expect(passed.length).toBe(1)
  await timing.advance(2)
  expect(passed.length).toBe(2)
  for (let times = 0; times < 10 * 10; times += 1) limiter.accepted()
  const before = passed.length
  await timing.advance(50 * EARNED_MS)
  expect(passed.length - before).toBe(50)
})

test('a delay beyond the maximum of a timer does not end at once', () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  let runs = 0
  systemTiming.after(30 * 86_400_000, () => {
    runs += 1
  })
  vi.advanceTimersByTime(24 * 86_400_000)
  expect(runs).toBe(0)
  vi.advanceTimersByTime(86_400_000)
  expect(runs).toBe(1)
})
