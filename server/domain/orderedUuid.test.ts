import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { orderedUuid } from './orderedUuid.ts'

const make = (nowMs: number): string => orderedUuid(nowMs, randomUUID())

test('an id is a UUID of version 7 that starts with its time', () => {
  expect(make(0x0190_1234_5678)).toMatch(/^01901234-5678-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('ids sort by their time, and two of the same time differ', () => {
  const times = [0, 1, 1_000, 1_795_230_000_000, 4_102_444_800_000]

  const ids = times.map(make)

  expect(ids.toSorted()).toEqual(ids)
  expect(make(5)).not.toBe(make(5))
})

test('a clock before the epoch still gives an id', () => {
  expect(make(-1)).toMatch(/^00000000-0000-7/)
})

test.each([
  [-5, '00000000-0000-7'],
  [0, '00000000-0000-7'],
  [0xab, '00000000-00ab-7'],
  [2 ** 48, 'ffffffff-ffff-7'],
])('the id of the instant %i starts with it, followed by random bits', (nowMs, start) => {
  const random = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'

  expect(orderedUuid(nowMs, random)).toBe(`${start}ccc-8ddd-eeeeeeeeeeee`)
  expect(orderedUuid(nowMs, random)).toBe(`${start}ccc-8ddd-eeeeeeeeeeee`)
})
