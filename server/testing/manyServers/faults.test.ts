import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../robustness/random.ts'
import { type Fault, type Installation, openInstallation } from './faults.ts'

/**
 * The torture writes without pauses, which takes all processors, and for longer: what a fault can damage is written at
 * its moment.
 */
const LOAD = { pauseMs: 20, calmMs: 250 }

let installation: Installation
beforeAll(async () => {
  installation = await openInstallation(LOAD)
})
afterAll(() => installation.close())

/** The other faults take longer and are in the torture. */
const SHORT = ['kill of a server', 'failover'] as const

test.each<Fault>(SHORT)('three servers lose and duplicate nothing during a fault: %s', async (fault) => {
  const { stats, problems } = await installation.run(fault, seededRandom(1))

  expect(problems).toEqual([])
  expect(stats.made).toBeGreaterThan(0)
})
