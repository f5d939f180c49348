/**
 * Long tests of monitoring. Feeds 100,000 generated responses, valid, unusual and damaged, to our parser and to
 * node:http, which may disagree only on named differences. Then kills a server, its agent, and both at once, 100 times
 * each, during the delivery of results, and compares the stored results with the expected ones (B12). Finally checks
 * 10,000 endpoints every 10 s for an hour, during which memory and descriptors must not grow (B14).
 *
 * node --import tsx bench/monitoring/torture.ts [responses [kills of each [seconds]]]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareReaders } from '../../monitoring/check/testing/namedDifferences.ts'
import { monitoringKills, type Victim } from '../../server/testing/robustness/monitoringKills.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'
import { soak } from './soak.ts'

const RESPONSES = Number(process.argv[2] ?? 100_000)
const KILLS_OF_EACH = Number(process.argv[3] ?? 100)
const SOAK_SECONDS = Number(process.argv[4] ?? 3_600)
const SEED = Number(process.env.TORTURE_SEED ?? Date.now() % 1_000_000)

const DIFFERENCES_MAX = 20
/**
 * Minimum duration of a soak for judging trends of memory and descriptors (seconds). In a shorter one they are too
 * noisy and only printed.
 */
const TREND_SECONDS_MIN = 1_800
/**
 * Maximum growth of memory in ten minutes (megabytes), and maximum difference between the medians of open descriptors.
 */
const SLOPE_MB_MAX = 1
const DESCRIPTORS_MAX = 5

function report(holds: boolean, text: string): void {
  console.log(`${holds ? 'ok  ' : 'MISS'} ${text}`)
  if (!holds) process.exitCode = 1
}

async function compare(): Promise<void> {
  const { whole, named, unnamed } = await compareReaders(1_000_000, RESPONSES)
  const names = Object.entries(named)
  for (const [name, times] of names) console.log(`     differs ${times} times: ${name}`)
  report(
    unnamed.length === 0 && names.length <= DIFFERENCES_MAX,
    `B7 ${RESPONSES} responses, of which node:http read ${whole} whole: ${names.length} named differences, ` +
      `${unnamed.length} others${unnamed.length === 0 ? '' : `, such as seeds ${unnamed.slice(0, 10).join(', ')}`} ` +
      `(limit ≤ ${DIFFERENCES_MAX}, and no other)`,
  )
}

async function kill(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-torture-'))
  const random = seededRandom(SEED)
  const killsOf = (victim: Victim) => Array<Victim>(KILLS_OF_EACH).fill(victim)
  // First only the server is killed. While the agent lives, no slot may be without a result.
  const victims = [...killsOf('server'), ...killsOf('agent').flatMap((agent) => [agent, 'both'] as const)]
  const showProgress = (kills: number): void => {
    if (kills % 10 === 0) process.stderr.write(`${kills} of ${victims.length} kills\n`)
  }
  try {
    const report = await monitoringKills({ folder, victims, random, onKill: showProgress })
    console.log(
      `B12 ${report.kills} kills, ${KILLS_OF_EACH} each of server, agent and both: ${report.acknowledged} results acknowledged, 0 lost; ` +
        `${report.stored} stored, 0 doubled; ${report.incidents} incidents for ${report.certain} certain failures, 0 doubled; ` +
        `${report.transitions} transitions, 0 lost; ${report.skipped} slots skipped on a busy machine`,
    )
    await rm(folder, { recursive: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.log(`FAIL B12 with TORTURE_SEED=${SEED}, left in ${folder}: ${reason}`)
    process.exitCode = 1
  }
}

async function soakChecks(): Promise<void> {
  const { checks, failed, reasons, slopeMb, rssMb, descriptors } = await soak(SOAK_SECONDS)
  // Checks that a busy machine could not start in time say nothing about the others.
  const { agent_busy: busy = 0, ...others } = reasons
  const [before, after] = descriptors
  const isSteady = slopeMb < SLOPE_MB_MAX && Math.abs(after - before) <= DESCRIPTORS_MAX
  report(
    failed === busy && (isSteady || SOAK_SECONDS < TREND_SECONDS_MIN),
    `B14 ${checks} checks in ${SOAK_SECONDS} s, ${busy} left out on a busy machine, ${failed - busy} failed ${JSON.stringify(others)}: ` +
      `memory ${rssMb.toFixed(0)} MB, ${slopeMb.toFixed(2)} MB more each 10 min, ${before} descriptors, then ${after} ` +
      `(limit < ${SLOPE_MB_MAX} MB, descriptors within ${DESCRIPTORS_MAX}, from ${TREND_SECONDS_MIN} s on)`,
  )
}

console.log(`node ${process.version}`)
await compare()
if (KILLS_OF_EACH > 0) await kill()
if (SOAK_SECONDS > 0) await soakChecks()
