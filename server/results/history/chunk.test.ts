import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChunkWriter, decodeChunk } from './chunk.ts'
import { mergeResults, type StoredResult } from './storedResult.ts'

const micros = fc.integer({ min: 0, max: 3_600_000_000 })
const result: fc.Arbitrary<StoredResult> = fc.record({
  dueS: fc.integer({ min: 1_800_000_000, max: 1_800_003_599 }),
  generation: fc.integer({ min: 1, max: 3 }),
  outcome: fc.integer({ min: 1, max: 4 }),
  reason: fc.constantFrom(0, 30, 84),
  status: fc.constantFrom(0, 200, 999),
  attempts: fc.integer({ min: 0, max: 2 }),
  flags: fc.constantFrom(0, 2 ** 16 - 1),
  lateMs: fc.constantFrom(0, 3, 3_600_000),
  totalUs: micros,
  dnsUs: micros,
  connectUs: micros,
  tlsUs: micros,
  waitUs: micros,
  bodyUs: micros,
  failed: fc.constantFrom(0, 1, 2 ** 40 + 5),
  firstReason: fc.constantFrom(0, 12),
  firstTotalUs: micros,
})
const results = fc.uniqueArray(result, { selector: ({ dueS }) => dueS, maxLength: 40 })
const byDue = (given: readonly StoredResult[]) => [...given].sort((a, b) => a.dueS - b.dueS)

test('a chunk has the added results, each once and in order, whatever the order of their addition', () => {
  fc.assert(
    fc.property(results, (given) => {
      const writer = new ChunkWriter()
      for (const one of [...given, ...given]) writer.add(one)

      expect(decodeChunk(writer.bytes)).toEqual(byDue(given))
      expect(decodeChunk(new ChunkWriter(byDue(given)).bytes)).toEqual(byDue(given))
    }),
  )
})

test('results are merged to one sequence, in which the first of two duplicates stays', () => {
  fc.assert(
    fc.property(results, results, (first, second) => {
      const merged = mergeResults(byDue(first), byDue(second))
      const isNew = ({ dueS }: StoredResult) => !first.some((one) => one.dueS === dueS)

      expect(merged).toEqual(byDue([...first, ...second.filter(isNew)]))
      expect(mergeResults(merged, byDue(second))).toEqual(merged)
    }),
  )
})

test('an ordinary result takes less than 20 bytes', () => {
  const writer = new ChunkWriter()
  for (let minute = 0; minute < 60; minute += 1) {
    writer.add({
      ...{
        dueS: 1_800_000_000 + 60 * minute,
        generation: 3,
        outcome: 1,
        reason: 0,
        status: 200,
        attempts: 1,
      },
      ...{ flags: 0, lateMs: 2, totalUs: 48_211 + minute, dnsUs: 310, connectUs: 9_120, tlsUs: 21_004 },
      ...{ waitUs: 15_800, bodyUs: 2_287, failed: 0, firstReason: 0, firstTotalUs: 0 },
    })
  }

  expect(writer.bytes.length / 60).toBeLessThan(20)
})

test('a chunk that is truncated, or of a later format, is an error', () => {
  const [one] = fc.sample(result, 1)
  const { bytes } = new ChunkWriter(one === undefined ? [] : [one])

  expect(() => decodeChunk(bytes.subarray(0, -1))).toThrow('a chunk of results is truncated')
  expect(() => decodeChunk(Buffer.from([9]))).toThrow('format 9')
})
