import { expect, test } from 'vitest'
import { daysLeft, reachedThresholdS } from './certificateNotices.ts'

const DAY_S = 24 * 60 * 60
const END_S = 1_800_000_000

/** The threshold in days, `leftS` seconds before the expiry of a certificate that is valid for `lifeDays`. */
function daysAt(leftS: number, lifeDays = 90): number | undefined {
  const times = { notBeforeS: END_S - lifeDays * DAY_S, notAfterS: END_S, chainNotAfterS: END_S }
  const reached = reachedThresholdS(times, END_S - leftS)
  return reached === undefined ? undefined : reached / DAY_S
}

test('a certificate causes a notice 30, 14, 7, 3 and 1 days before it expires, and when it has expired', () => {
  const left = [31, 30, 29, 14, 7, 3.5, 3, 1, 0.5, 0, -1]

  expect(left.map((days) => daysAt(days * DAY_S))).toEqual([undefined, 30, 30, 14, 7, 7, 3, 1, 1, 0, 0])
  expect(daysAt(30 * DAY_S + 1)).toBeUndefined()
})

test('a certificate valid for less than 20 days causes a notice at a third and a tenth of its lifetime', () => {
  const left = [6, 2.1, 2, 0.7, 0.6, 0]

  expect(left.map((days) => daysAt(days * DAY_S, 6))).toEqual([undefined, undefined, 2, 2, 0.6, 0])
  expect(daysAt(14 * DAY_S, 20)).toBe(14)
})

test('an intermediate certificate that expires first decides', () => {
  const times = { notBeforeS: END_S - 90 * DAY_S, notAfterS: END_S, chainNotAfterS: END_S - 60 * DAY_S }

  expect(reachedThresholdS(times, END_S - 62 * DAY_S)).toBe(3 * DAY_S)
})

test('days left are whole days, and negative after the expiry', () => {
  expect([2.5, 1, 0.5, -0.5].map((days) => daysLeft(END_S, END_S - days * DAY_S))).toEqual([2, 1, 0, -1])
})
