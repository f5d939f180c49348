import { expect, test } from 'vitest'
import { waitNotices } from './waitNotice.ts'

test('the first wait is reported, and then one every 15 seconds', () => {
  let nowMs = 0
  const isTold = waitNotices(() => nowMs)

  const told = [0, 1, 14_999, 15_000, 29_999, 30_000].map((atMs) => {
    nowMs = atMs
    return isTold()
  })

  expect(told).toEqual([true, false, false, true, false, true])
})
