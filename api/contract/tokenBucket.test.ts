import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bucket, fullBucket, spendToken, waitForTokenMs } from './tokenBucket.ts'

function spend(bucket: Bucket, nowMs: number, times: number): { passed: number; bucket: Bucket } {
  let passed = 0
  let kept = bucket
  for (let i = 0; i < times; i += 1) {
    const { allowed, bucket: next } = spendToken(kept, nowMs)
    if (allowed) passed += 1
    kept = next
  }
  return { passed, bucket: kept }
}

test('a full bucket passes 20 requests at once and refuses the 21st', () => {
  expect(spend(fullBucket(0), 0, 21).passed).toBe(20)
})

test.each([
  [199, 0],
  [200, 1],
  [1_000, 5],
  [4_000, 20],
  [60_000, 20],
])('an empty bucket passes after %i ms exactly %i more', (idleMs, more) => {
  const { bucket } = spend(fullBucket(0), 0, 20)

  expect(spend(bucket, idleMs, 30).passed).toBe(more)
})

test('a clock that is set back does not change the allowance', () => {
  const { bucket } = spend(fullBucket(10_000), 10_000, 20)

  expect(spend(bucket, 0, 1).passed).toBe(0)
  expect(spend(spend(bucket, 0, 1).bucket, 10_200, 5).passed).toBe(1)
})

test('no sequence of requests passes more than a burst of 20 and one request every 200 ms', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 300 }), (gapsMs) => {
      let nowMs = 0
      let bucket = fullBucket(0)
      let passed = 0
      for (const gapMs of gapsMs) {
        nowMs += gapMs
        const spent = spendToken(bucket, nowMs)
        bucket = spent.bucket
        if (spent.allowed) passed += 1
      }
      expect(passed).toBeLessThanOrEqual(20 + Math.floor(nowMs / 200))
    }),
  )
})

test('the stated wait is exactly what a refused request needs', () => {
  const { bucket } = spend(fullBucket(0), 50, 20)

  const waitMs = waitForTokenMs(bucket, 130)

  expect(spend(bucket, 130 + waitMs - 1, 1).passed).toBe(0)
  expect(spend(bucket, 130 + waitMs, 1).passed).toBe(1)
})

test('a bucket with a token has no wait, and one that is empty waits for the next', () => {
  const { bucket: almostEmpty } = spend(fullBucket(0), 0, 19)
  const { bucket: empty } = spend(fullBucket(0), 0, 20)

  expect([waitForTokenMs(almostEmpty, 0), waitForTokenMs(empty, 0), waitForTokenMs(empty, 150)]).toEqual([
    0, 200, 50,
  ])
})
