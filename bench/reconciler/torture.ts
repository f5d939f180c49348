/**
 * Simulates 40,000 histories of crashes, lost responses, late requests and manual changes with the real plan, apply and
 * state code. Prints every history with a duplicated or lost service, or a foreign or unapproved change.
 *
 * Run with `node --import tsx bench/reconciler/torture.ts [stories] [first seed]`.
 */
import { crashScenario } from '../../reconciler/testing/crashModel.ts'

const STORIES = 40_000
/** The first seed, beyond those of the tests. */
const FIRST_SEED = 1_000_000
const STORIES_PER_LINE = 5_000

async function main([stories = STORIES, firstSeed = FIRST_SEED]: readonly number[]): Promise<void> {
  let wrong = 0
  const startedAt = performance.now()
  for (let simulated = 1; simulated <= stories; simulated += 1) {
    const seed = firstSeed + simulated
    for (const problem of await crashScenario(seed)) {
      wrong += 1
      process.stdout.write(`history ${seed}: ${problem}\n`)
    }
    if (simulated % STORIES_PER_LINE === 0 || simulated === stories) {
      const secs = (performance.now() - startedAt) / 1_000
      process.stdout.write(`${simulated} histories of crashes in ${secs.toFixed(0)} s: ${wrong} wrong\n`)
    }
  }
  if (wrong > 0) process.exitCode = 1
}

await main(process.argv.slice(2).map(Number))
