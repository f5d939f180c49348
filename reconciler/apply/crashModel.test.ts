import { expect, test } from 'vitest'
import { cases } from '../../scripts/testing/torture.ts'
import { crashScenario } from '../testing/crashModel.ts'

/** `npm run torture` tells 40,000 others. */
const STORIES = cases(150, 2_000)

test('Scenarios 35 to 37: in random sequences of crashes and faults nothing is duplicated or lost, and no foreign service or unapproved change is touched', async () => {
  const wrong: string[] = []
  for (let seed = 1; seed <= STORIES; seed += 1) {
    for (const problem of await crashScenario(seed)) wrong.push(`story ${seed}: ${problem}`)
  }
  expect(wrong).toEqual([])
}, 120_000)
