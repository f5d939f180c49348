/**
 * Clients write through three servers while their PostgreSQL restarts, crashes, fails over to a synchronous standby, or
 * loses its network. Prints every difference between the responses and the stored data. At the end it fails over to an
 * asynchronous standby, which loses the last changes, and restores a backup.
 *
 * Run with `node --import tsx bench/postgres/torture.ts [rounds] [seed] [fault]`. A failover happens twice in each
 * round. Times are printed beside their limits, which a busy machine exceeds, for the reader to judge.
 *
 * Possible failures and their tests. "fault" means one of server/testing/manyServers/faults.ts, which run here, and the
 * short ones also in faults.test.ts. Other titles are tests of the suite.
 *
 * | what happens | test |
 * | --- | --- |
 * | restart of PostgreSQL | fault: restart of the database |
 * | crash, 2 s down | fault: crash of the database; outages.test: a mutation interrupted by a short outage waits for its end, and is made once |
 * | failover to a synchronous standby | fault: failover |
 * | failover to an asynchronous one | here: failOverAsynchronously; judgeDatabase.test: replication |
 * | replies lost after the commit | fault: replies lost; orgQueues.test: a creation whose response is lost after its commit is found, and not repeated; outages.test: a batch whose result stays unknown gets 502, and is not sent again |
 * | partition, black hole | faults: network that passes nothing, network that goes away; outages.test: connections that go silent are dropped, and do not delay the next requests |
 * | backends ended | fault: connections ended on the server; outages.test: requests whose connections are ended by the database server succeed |
 * | organisation locked by others | fault: organisation locked by another program; orgQueues.test: mutations of an organisation locked by another program are refused after the lock timeout, and those of others are not |
 * | pool exhausted | pools.test: requests beyond those that wait for a connection are refused at once; crowded.ts: reads beside 1,000 waiting creates |
 * | database down for longer than a second | outages.test: while the database is down, requests are refused without a connection attempt, and succeed after it |
 * | 40001, 40P01 | pools.test: a mutation that the database aborts because of another transaction is retried |
 * | statement timeout 57014, disk full 53100 | databaseFailure.test: at …: a create is 500, has no effect, and succeeds once when repeated; fault: disk of the database full |
 * | API process killed | fault: kill of a server; serve.e2e: two processes serve one database |
 * | agent link lost | links.test, agentTrouble.e2e: agents keep checking and deliver later |
 * | duplicate delivery | ingest.test; agentResults.ts: batches that are sent twice |
 * | clocks of servers differ | pools.test: servers whose clocks differ by an hour keep the order of creations and updates |
 * | clock of the database set back | sharedAdmission.test: three processes share one bucket for a key, even when the clock is set back |
 * | disk of the database lost | here: drillRestore; for a data folder restoreDrill.e2e |
 * | two databases after a move | move.test: after a move the former place of the data is refused |
 */
import { buildPrograms } from '../../scripts/build.mjs'
import {
  FAULTS,
  type Fault,
  type FaultReport,
  type Installation,
  openInstallation,
} from '../../server/testing/manyServers/faults.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'
import { rootReason } from '../../server/testing/rootReason.ts'
import { failOverAsynchronously } from './asynchronousFailover.ts'
import { drillRestore } from './restoreDrill.ts'

const ROUNDS = 10

const write = (line: string) => process.stdout.write(`${line}\n`)

async function main([rounds = ROUNDS, seed = Date.now() % 1_000_000]: readonly number[]): Promise<void> {
  write(`seed ${seed}`)
  const random = seededRandom(seed)
  const wanted = process.argv[4]
  await buildPrograms((out) => out.startsWith('pharos-server'))
  const installation = await openInstallation()
  let wrong = 0
  // True because Object.keys lists the keys of FAULTS.
  const faults = (Object.keys(FAULTS) as Fault[]).filter((fault) => wanted === undefined || fault === wanted)
  try {
    for (const fault of faults) {
      if (fault === 'disk of the database full' && rootReason !== null)
        write(`${fault}: left out (${rootReason})`)
      else wrong += await runRounds(installation, { fault, rounds, random })
    }
  } finally {
    await installation.close()
  }
  if (wanted === undefined) {
    const { acknowledged, lost, doctor } = await failOverAsynchronously()
    write(
      `failover to an asynchronous standby that is a second behind: ${lost} of ${acknowledged} acknowledged creates lost; before it doctor exits with ${doctor.code}: ${doctor.text}`,
    )
    if (doctor.code !== 1) wrong += 1
    const drill = await drillRestore()
    write(
      `restore drill: database lost with its disk, recovered from a copy and the archived log and served in ${seconds(drill.tookMs)}; ${drill.lost} of ${drill.acknowledged} acknowledged creates lost, those of the last ${seconds(drill.lostMs)}`,
    )
    wrong += drill.holes
  }
  write(wrong === 0 ? 'postgres: nothing was violated' : `postgres: ${wrong} violations`)
  if (wrong > 0) process.exitCode = 1
}

/** Inflicts `fault` several times. Resolves with the number of violations. */
async function runRounds(
  installation: Installation,
  { fault, rounds, random }: { fault: Fault; rounds: number; random: () => number },
): Promise<number> {
  const reports: FaultReport[] = []
  for (let round = 0; round < (fault === 'failover' ? 2 : 1) * rounds; round += 1) {
    reports.push(await installation.run(fault, random))
  }
  const sum = (name: 'made' | 'refused' | 'unknown') =>
    reports.reduce((total, { stats }) => total + stats[name], 0)
  const longestMs = Math.max(...reports.map(({ stats }) => stats.longestMs))
  const pauseMs = Math.max(...reports.map(({ stats }) => stats.pauseMs))
  const resumeMs = Math.max(
    ...reports.map(({ stats, outageMs }) => (outageMs === undefined ? 0 : stats.pauseMs - outageMs)),
  )
  const problems = reports.flatMap((report) => report.problems)
  for (const problem of problems) write(`${fault}: ${problem}`)
  const resumed = resumeMs > 0 ? `, ${seconds(resumeMs)} longer than the outage (limit 1 s)` : ''
  write(
    `${fault}, ${reports.length} times: ${sum('made')} changes acknowledged, ${sum('refused')} refused, ${sum('unknown')} unknown; longest pause ${seconds(pauseMs)}${resumed}, slowest response ${seconds(longestMs)} (limit 8 s)`,
  )
  return problems.length
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

await main(process.argv.slice(2, 4).map(Number))
