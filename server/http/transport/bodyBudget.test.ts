import { expect, test } from 'vitest'
import { BODY_BOUNDS, parsedBytes } from './bodyBudget.ts'
import { BODY_BYTES_MAX } from './jsonBody.ts'

const full = (unit: string): Buffer => Buffer.from(unit.repeat(Math.floor(BODY_BYTES_MAX / unit.length)))

test('the size of a body counts its objects, arrays and members, not only its length', () => {
  const text = parsedBytes(full('x'))

  expect(text).toBe(2 * BODY_BYTES_MAX)
  expect(parsedBytes(full('{},')) / text).toBeGreaterThan(10)
  expect(parsedBytes(full('"a":1,')) / text).toBeGreaterThan(5)
})

test('one organisation leaves memory for the bodies of others', () => {
  expect(2 * BODY_BOUNDS.orgBytesMax).toBeLessThanOrEqual(BODY_BOUNDS.bytesMax)
})
