import { expect, test } from 'vitest'
import { assertDeliveryOrder } from './deliveryOrder.ts'
import { seededRandom } from './random.ts'

const HISTORIES = 100

test('G9 events of an incident arrive in order at receivers that fail at random, unless one fails for minutes', async () => {
  const seed = Date.now() % 1_000_000
  const report = await assertDeliveryOrder({ histories: HISTORIES, random: seededRandom(seed) }).catch(
    (error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error })
    },
  )

  expect(report.histories).toBe(HISTORIES)
  expect(report.attempts).toBeGreaterThan(10 * HISTORIES)
  // Otherwise the rule was not tested at its limit.
  expect(report.overtaking).toBeGreaterThan(0)
})
