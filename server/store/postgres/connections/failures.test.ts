import { expect, test } from 'vitest'
import { DatabaseDown } from './circuit.ts'
import { NotSent, Retries } from './failures.ts'

const lost = new NotSent(new Error('timeout expired'))

/** Whether work that began at 0 is retried after `error` at each of `timesMs`. */
async function retriedAt(timesMs: readonly number[], error: unknown = lost): Promise<readonly boolean[]> {
  let nowMs = 0
  const retries = new Retries(() => nowMs)
  const retried: boolean[] = []
  for (const timeMs of timesMs) {
    nowMs = timeMs
    retried.push(await retries.shouldRetry(error))
  }
  return retried
}

test('work that loses its connection is retried until five seconds after its start', async () => {
  expect(await retriedAt([100, 4_900, 4_960])).toEqual([true, true, false])
})

test('work whose loss is noticed late is retried for another moment, and never beyond eight seconds', async () => {
  expect(await retriedAt([6_000, 7_400, 7_460])).toEqual([true, true, false])
  expect(await retriedAt([7_000, 7_400, 7_460])).toEqual([true, true, false])
  expect(await retriedAt([7_600])).toEqual([false])
})

test('work that waited in a queue is retried as if it had begun when it was queued', async () => {
  const retries = new Retries(() => 9_000, 1_000)

  expect(await retries.shouldRetry(lost)).toBe(false)
})

test('work that begins in an outage, or that the database refuses, is not retried', async () => {
  expect(await retriedAt([10], new DatabaseDown(lost))).toEqual([false])
  expect(await retriedAt([10], new Error('duplicate key'))).toEqual([false])
})
