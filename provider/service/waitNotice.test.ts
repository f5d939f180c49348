import { expect, test } from 'vitest'
import { waitNotices } from './waitNotice.ts'

test('the first wait is reported, and then one every 15 seconds', () => {
  let nowMs = 0
  const isDue = waitNotices(() => nowMs)

  const reported = [0, 1, 14_999, 15_000, 29_999, 30_000].map((atMs) => {
    nowMs = atMs
    return isDue()
  })

  expect(reported).toEqual([true, false, false, true, false, true])
})
