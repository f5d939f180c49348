/**
 * Lets clients write through three servers while their PostgreSQL restarts, crashes, fails over to a synchronous standby, or
 * loses its network, and prints every difference between what they were answered and what is stored.
 *
 * Run with `node --import tsx bench/postgres/torture.ts [rounds] [seed]`.
 */
import { buildPrograms } from '../../scripts/build.mjs'
import { FAULTS, type Fault, openInstallation } from '../../server/testing/manyServers/faults.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'

const ROUNDS = 3

async function main([rounds = ROUNDS, seed = Date.now() % 1_000_000]: readonly number[]): Promise<void> {
  process.stdout.write(`seed ${seed}\n`)
  const random = seededRandom(seed)
  await buildPrograms((out) => out.startsWith('pharos-server'))
  const installation = await openInstallation()
  let wrong = 0
  // True because Object.keys lists what FAULTS has.
  const faults = Object.keys(FAULTS) as Fault[]
  try {
    for (const fault of faults) {
      const totals = { made: 0, refused: 0, unknown: 0, longestMs: 0, pauseMs: 0 }
      for (let round = 0; round < rounds; round += 1) {
        const { figures, problems } = await installation.run(fault, random)
        for (const name of ['made', 'refused', 'unknown'] as const) totals[name] += figures[name]
        for (const name of ['longestMs', 'pauseMs'] as const)
          totals[name] = Math.max(totals[name], figures[name])
        for (const problem of problems) process.stdout.write(`${fault}: ${problem}\n`)
        wrong += problems.length
      }
      const { made, refused, unknown, longestMs, pauseMs } = totals
      process.stdout.write(
        `${fault}, ${rounds} times: ${made} changes acknowledged, ${refused} refused, ${unknown} unknown; longest pause ${seconds(pauseMs)}, slowest answer ${seconds(longestMs)}\n`,
      )
    }
  } finally {
    await installation.close()
  }
  process.stdout.write(wrong === 0 ? 'postgres: nothing was violated\n' : `postgres: ${wrong} violations\n`)
  if (wrong > 0) process.exitCode = 1
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

await main(process.argv.slice(2).map(Number))
