import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JoinedBytes } from './joinedBytes.ts'

test('parts of any length are joined to the same bytes, whatever is read in between', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.nat(500), (parts, bytesMax) => {
      const joined = new JoinedBytes(bytesMax)
      const expected: Uint8Array[] = []
      for (const part of parts) {
        joined.push(Buffer.from(part))
        expected.push(part)
        expect(joined.all()).toEqual(Buffer.concat(expected))
      }
      expect(joined.length).toBe(Buffer.concat(expected).length)
    }),
    { numRuns: 100 },
  )
})

test('bytes that arrive one by one use no more memory than allowed', () => {
  const joined = new JoinedBytes(100_000)
  for (let count = 0; count < 100_000; count += 1) joined.push(Buffer.from('a'))

  expect(joined.all().buffer.byteLength).toBe(100_000)
  expect(joined.all().equals(Buffer.alloc(100_000, 'a'))).toBe(true)
})
