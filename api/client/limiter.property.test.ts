import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyBuckets, type SpendRequest } from '../../server/http/rateLimit.ts'
import { BURST_REQUESTS, REFILL_INTERVAL_MS } from '../contract/tokenBucket.ts'
import { Limiter } from './limiter.ts'
import { type ManualClock, manualClock } from './testing/manualClock.ts'

/** One request of a schedule: the time of the request, and the duration of request and response (milliseconds). */
interface Journey {
  readonly askedAfterMs: number
  readonly thereMs: number
  readonly backMs: number
}

/** Kinds of network: fast, or slow for a while, or with single requests that take seconds. */
const latency = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 400 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 15_000 }) },
)
const journeys: fc.Arbitrary<readonly Journey[]> = fc.array(
  fc.record({
    // Mostly all at once, as in an apply; sometimes after a pause in which the key earns its burst again.
    askedAfterMs: fc.oneof(
      { weight: 12, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 300 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 9_000 }) },
    ),
    thereMs: latency,
    backMs: latency,
  }),
  { minLength: 1, maxLength: 120, size: 'max' },
)
/** Speed of the server's clock compared with ours: NTP slews by half a thousandth at most. */
const SLOWEST_PACE = 0.999_5
const pace = fc.double({ min: SLOWEST_PACE, max: 1.000_5, noNaN: true })

/**
 * Sends `requests` through `limiter` to a server that counts with `spend`; returns the number of refusals and the time
 * of the last response.
 */
async function travel(
  requests: readonly Journey[],
  clock: ManualClock,
  limiter: Limiter,
  spend: SpendRequest,
): Promise<{ readonly refused: number; readonly endedAtMs: number }> {
  let done = 0
  let refused = 0
  let endedAtMs = 0
  const passes = (delayMs: number): Promise<void> => new Promise((resolve) => clock.after(delayMs, resolve))
  const one = async ({ thereMs, backMs }: Journey): Promise<void> => {
    await limiter.pass('in-order')
    await passes(thereMs)
    const { isAllowed, remaining } = await spend('key')
    await passes(backMs)
    limiter.ended()
    if (isAllowed) limiter.accepted(remaining)
    else limiter.refused(undefined)
    done += 1
    refused += isAllowed ? 0 : 1
    endedAtMs = clock.nowMs()
  }
  const ask = async (): Promise<void> => {
    for (const request of requests) {
      if (request.askedAfterMs > 0) await passes(request.askedAfterMs)
      void one(request)
    }
  }
  void ask()
  while (done < requests.length) await clock.advance(1_000)
  return { refused, endedAtMs }
}

test('while a key has one user, no request is refused, however long requests and responses take', async () => {
  await fc.assert(
    fc.asyncProperty(journeys, pace, async (requests, serverPace) => {
      const clock = manualClock()
      const limiter = new Limiter(undefined, clock)

      const spend = keyBuckets(() => clock.nowMs() * serverPace)

      const { refused } = await travel(requests, clock, limiter, spend)

      expect(refused).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('a run that starts with a partly spent burst gets no 429 after its first response', async () => {
  const begun = fc.integer({ min: 1, max: 20 })
  await fc.assert(
    fc.asyncProperty(journeys, begun, async ([first, ...others], left) => {
      if (first === undefined) return
      const clock = manualClock()
      const limiter = new Limiter(undefined, clock)
      // This process does not know what an earlier one spent.
      const spend = keyBuckets(clock.nowMs)
      for (let i = left; i < 20; i += 1) await spend('key')

      const alone = await travel([first], clock, limiter, spend)
      const together = await travel(others, clock, limiter, spend)

      expect([alone.refused, together.refused]).toEqual([0, 0])
    }),
    { numRuns: 100 },
  )
})

test('1,000 requests in a row get no 429 from a server whose clock is a little slower', async () => {
  const clock = manualClock()
  const spend = keyBuckets(() => clock.nowMs() * SLOWEST_PACE)
  const requests = Array.from({ length: 1_000 }, () => ({ askedAfterMs: 0, thereMs: 0, backMs: 1 }))

  const { refused } = await travel(requests, clock, new Limiter(undefined, clock), spend)

  expect(refused).toBe(0)
})

test('100 requests take at most 1 % longer than the limit requires', async () => {
  const clock = manualClock()
  const quick = { askedAfterMs: 0, thereMs: 5, backMs: 5 }

  const { endedAtMs } = await travel(
    Array.from({ length: 100 }, () => quick),
    clock,
    new Limiter(undefined, clock),
    keyBuckets(clock.nowMs),
  )

  const allowedMs = (100 - BURST_REQUESTS) * REFILL_INTERVAL_MS
  expect(endedAtMs / allowedMs).toBeLessThan(1.01)
})
