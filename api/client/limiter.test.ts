import { expect, test } from 'vitest'
import { Limiter, type Timing } from './limiter.ts'

/** A clock that stands still until told, with the timers that wait on it. */
function clock(): Timing & { advance(ms: number): Promise<void> } {
  let nowMs = 0
  let timers: { atMs: number; run: () => void }[] = []
  return {
    nowMs: () => nowMs,
    random: () => 0,
    after: (delayMs, run) => {
      const timer = { atMs: nowMs + delayMs, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    async advance(ms) {
      const untilMs = nowMs + ms
      for (;;) {
        await Promise.resolve()
        const due = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (due === undefined) break
        nowMs = due.atMs
        timers = timers.filter((timer) => timer !== due)
        due.run()
      }
      nowMs = untilMs
      await Promise.resolve()
    },
  }
}

function askFor(limiter: Limiter, count: number): { passed: number[] } {
  const passed: number[] = []
  for (let i = 0; i < count; i += 1) void limiter.pass('in-order').then(() => passed.push(i))
  return { passed }
}

test('a fresh limiter passes 18 requests at once and then one each 200 ms, in order', async () => {
  const timing = clock()
  const { passed } = askFor(new Limiter(undefined, timing), 21)

  await timing.advance(0)
  expect(passed.length).toBe(18)
  await timing.advance(199)
  expect(passed.length).toBe(18)
  await timing.advance(1)
  expect(passed.length).toBe(19)
  await timing.advance(400)
  expect(passed).toEqual([...Array(21).keys()])
})

test('the lane "next" goes before everything that waits in order', async () => {
  const timing = clock()
  const limiter = new Limiter(undefined, timing)
  const { passed } = askFor(limiter, 20)
  void limiter.pass('next').then(() => passed.push(-1))

  await timing.advance(200)

  expect(passed.at(-1)).toBe(-1)
})

test('Scenario 52: a refusal holds every request, twice as long each time, and at least as long as the server asks', async () => {
  const timing = clock()
  const limiter = new Limiter(undefined, timing)
  limiter.refused(undefined)
  const { passed } = askFor(limiter, 1)

  await timing.advance(249)
  expect(passed).toEqual([])
  limiter.refused(undefined)
  await timing.advance(499)
  expect(passed).toEqual([])
  await timing.advance(1)
  expect(passed).toEqual([0])
  limiter.refused(3_000)
  const later = askFor(limiter, 1)
  await timing.advance(2_999)
  expect(later.passed).toEqual([])
  await timing.advance(1)
  expect(later.passed).toEqual([0])
})

test('a request that is aborted while it waits leaves the queue at once and spends nothing', async () => {
  const timing = clock()
  const limiter = new Limiter(undefined, timing)
  askFor(limiter, 18)
  const stop = new AbortController()
  const aborted = limiter.pass('in-order', stop.signal)
  const { passed } = askFor(limiter, 1)

  stop.abort(new Error('stopped'))

  await expect(aborted).rejects.toThrow('stopped')
  expect(limiter.waiting).toBe(1)
  await timing.advance(200)
  expect(passed).toEqual([0])
})

test('after a request that is let through, the next refusal starts with the shortest pause again', async () => {
  const timing = clock()
  const limiter = new Limiter(undefined, timing)
  for (let i = 0; i < 4; i += 1) limiter.refused(undefined)
  await timing.advance(10_000)

  limiter.accepted()
  limiter.refused(undefined)
  const { passed } = askFor(limiter, 1)

  await timing.advance(249)
  expect(passed).toEqual([])
  await timing.advance(1)
  expect(passed).toEqual([0])
})

test('Scenario 33: after a refusal requests go on at half the rate, and faster again while they are let through', async () => {
  const timing = clock()
  const limiter = new Limiter(undefined, timing)
  limiter.refused(undefined)
  limiter.refused(undefined)
  await timing.advance(500)
  const { passed } = askFor(limiter, 100)
  await timing.advance(0)
  expect(passed.length).toBe(1)
  await timing.advance(399)
  expect(passed.length).toBe(1)
  await timing.advance(1)
  expect(passed.length).toBe(2)
  for (let times = 0; times < 10 * 10; times += 1) limiter.accepted()
  const before = passed.length
  await timing.advance(10_000)
  expect(passed.length - before).toBe(50)
})
