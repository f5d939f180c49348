import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../robustness/random.ts'
import { type Fault, type Installation, openInstallation } from './faults.ts'

/** Pause between writes (milliseconds). The torture writes without one, which takes all processors. */
const PAUSE_MS = 20

let installation: Installation
beforeAll(async () => {
  installation = await openInstallation(PAUSE_MS)
})
afterAll(() => installation.close())

/** The other faults take longer and are in the torture. */
const SHORT = ['kill of a server', 'failover'] as const

test.each<Fault>(SHORT)('three servers lose and duplicate nothing during a fault: %s', async (fault) => {
  const { stats, problems } = await installation.run(fault, seededRandom(1))

  expect(problems).toEqual([])
  expect(stats.made).toBeGreaterThan(0)
})
