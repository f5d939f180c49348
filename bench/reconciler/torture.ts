/**
 * Tells 40,000 stories of crashes, lost answers, late requests and meddling people with the real plan, apply and
 * state code, and prints every one after which something was doubled, lost, foreign or unapproved.
 *
 * Run with `node --import tsx bench/reconciler/torture.ts [stories] [first seed]`.
 */
import { crashStory } from '../../reconciler/testing/crashModel.ts'

const STORIES = 40_000
/** Beyond the seeds that the tests tell. */
const FIRST_SEED = 1_000_000
const STORIES_PER_LINE = 5_000

async function main([stories = STORIES, firstSeed = FIRST_SEED]: readonly number[]): Promise<void> {
  let wrong = 0
  const startedAt = performance.now()
  for (let told = 1; told <= stories; told += 1) {
    const seed = firstSeed + told
    for (const problem of await crashStory(seed)) {
      wrong += 1
      process.stdout.write(`story ${seed}: ${problem}\n`)
    }
    if (told % STORIES_PER_LINE === 0 || told === stories) {
      const secs = (performance.now() - startedAt) / 1_000
      process.stdout.write(`${told} stories of crashes in ${secs.toFixed(0)} s: ${wrong} wrong\n`)
    }
  }
  if (wrong > 0) process.exitCode = 1
}

await main(process.argv.slice(2).map(Number))
