import { expect, test } from 'vitest'
import { afterAttempt, isGivenUp } from './retries.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const failed = { status: 500, error: null, durationMs: 1 }
const webhook = { kind: 'webhook', type: 'incident.created' } as const

/** All pauses of the schedule, in seconds. */
function pauses(about: { kind: 'webhook' | 'slack'; type: 'incident.created' | 'channel.test' }, random = 0) {
  const found: number[] = []
  for (let attempt = 1; ; attempt += 1) {
    const after = afterAttempt(failed, { ...about, attempt }, { nowMs: 0, random })
    if (after.kind !== 'again') return { pauses: found, end: after.kind }
    found.push(after.dueMs / 1_000)
  }
}

test('a delivery has eleven attempts within 75.6 hours, one to a chat has five within an hour, and a test has one', () => {
  const schedule = [5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

  expect(pauses(webhook)).toEqual({ pauses: schedule, end: 'failed' })
  expect(pauses({ ...webhook, kind: 'slack' })).toEqual({ pauses: schedule.slice(0, 4), end: 'failed' })
  expect(pauses({ ...webhook, type: 'channel.test' })).toEqual({ pauses: [], end: 'failed' })
})

test('a delay is randomly up to a tenth longer', () => {
  expect(pauses(webhook, 0.5).pauses.slice(0, 2)).toEqual([5.25, 31.5])
})

test.each([
  [200, 'sent'],
  [204, 'sent'],
  [299, 'sent'],
  [199, 'again'],
  [301, 'again'],
  [404, 'again'],
  [429, 'again'],
  [503, 'again'],
  [410, 'gone'],
])('after a status of %i the delivery is %s', (status, kind) => {
  const result = { status, error: null, durationMs: 1 }

  expect(afterAttempt(result, { ...webhook, attempt: 1 }, { nowMs: 0, random: 0 }).kind).toBe(kind)
})

test('a delivery without a response is sent again', () => {
  const result = { status: null, error: 'connect_refused', durationMs: 1 }

  expect(afterAttempt(result, { ...webhook, attempt: 1 }, { nowMs: 7, random: 0 })).toEqual({
    kind: 'again',
    dueMs: 5_007,
  })
})

test.each([
  ['120', 120_000],
  ['1', 5_000],
  ['999999', DAY_MS],
  ['9'.repeat(30), DAY_MS],
  ['Thu, 01 Jan 1970 00:02:00 GMT', 120_000],
  ['Wed, 31 Dec 1969 00:00:00 GMT', 5_000],
  ['soon', 5_000],
])('a Retry-After of %s is respected up to a day, and never shortens the delay', (retryAfter, dueMs) => {
  const result = { status: 429, error: null, durationMs: 1, retryAfter }

  expect(afterAttempt(result, { ...webhook, attempt: 1 }, { nowMs: 0, random: 0 })).toEqual({
    kind: 'again',
    dueMs,
  })
})

test.each([500, 404, 301])('a Retry-After with status %i is ignored', (status) => {
  const result = { status, error: null, durationMs: 1, retryAfter: '3600' }

  expect(afterAttempt(result, { ...webhook, attempt: 1 }, { nowMs: 0, random: 0 })).toEqual({
    kind: 'again',
    dueMs: 5_000,
  })
})

test.each([
  [5 * DAY_MS, 10, true],
  [5 * DAY_MS - 1, 10, false],
  [5 * DAY_MS, 9, false],
])(
  'a channel that failed for %i ms with %i failed deliveries is given up: %s',
  (sinceMs, failedDeliveries, isSo) => {
    expect(isGivenUp({ nowMs: sinceMs, sinceMs: 0, failedDeliveries })).toBe(isSo)
  },
)
