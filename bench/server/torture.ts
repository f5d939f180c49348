import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertDeliveryOrder } from '../../server/testing/robustness/deliveryOrder.ts'
import { fillDisk } from '../../server/testing/robustness/diskFull.ts'
import { watchFlushes } from '../../server/testing/robustness/flushOrder.ts'
import { fuzz } from '../../server/testing/robustness/fuzz.ts'
import { killLoop } from '../../server/testing/robustness/killLoop.ts'
import { killNotifications } from '../../server/testing/robustness/notificationKills.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'
import { startServer } from '../../server/testing/startServer.ts'

/** Long version of the suite's stress tests of the server. Variables set the numbers and the seed. */
const KILLS = setting('TORTURE_KILLS', 100)
const REQUESTS = setting('TORTURE_REQUESTS', 200_000)
const HISTORIES = setting('TORTURE_HISTORIES', 10_000)
const SEED = setting('TORTURE_SEED', Date.now() % 1_000_000)

/** Number of creates with traced system calls. */
const FLUSHES = 1_000

/** Size of the disk to fill: twice the log that the database keeps, and the reserve. */
const DISK_SIZE = '80m'
/** Maximum output shown of a failed run (characters). */
const OUTPUT_CHARS_MAX = 6_000

function setting(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number`)
  return value
}

/** Runs one stress test. Resolves with its line of the summary; rejects on a violation. */
type StressTest = (showProgress: (text: string) => void) => Promise<string>

async function kill(showProgress: (text: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-torture-'))
  try {
    const { kills, acknowledged, services, incidents } = await killLoop({
      dataDir: join(folder, 'data'),
      kills: KILLS,
      random: seededRandom(SEED),
      onKill: (done) => showProgress(`${done} of ${KILLS}`),
    })
    return `${kills} kills, ${acknowledged} acknowledged writes (${services} services and ${incidents} incidents kept), none lost`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function order(): Promise<string> {
  const { histories, attempts, overtaking } = await assertDeliveryOrder({
    histories: HISTORIES,
    random: seededRandom(SEED),
  })
  return `${histories} histories of deliveries in order, ${attempts} attempts, ${overtaking} past an event that had failed for minutes`
}

async function killSender(showProgress: (text: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-torture-'))
  try {
    const { acknowledged, arrived } = await killNotifications({
      dataDir: join(folder, 'data'),
      kills: KILLS,
      random: seededRandom(SEED),
      onKill: (done) => showProgress(`${done} of ${KILLS}`),
    })
    return `${KILLS} kills, ${acknowledged} confirmed updates of incidents arrived in order at each of two channels, in ${arrived} deliveries`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fuzzAll(showProgress: (text: string) => void): Promise<string> {
  const server = await startServer({ rateLimit: 'none', plan: 'enterprise', logLevel: 'error' })
  try {
    const counts = await fuzz({
      url: server.url,
      key: server.apiKey,
      requests: REQUESTS,
      random: seededRandom(SEED),
      onResponses: (done) => showProgress(`${done} of ${REQUESTS}`),
    })
    return `${REQUESTS} random requests, none 5xx: ${JSON.stringify(counts)}`
  } finally {
    await server.close()
  }
}

async function fill(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-full-'))
  const { status } = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'pharos', folder])
  try {
    if (status !== 0) return 'not run: only root may mount a small disk'
    const { acknowledged } = await fillDisk(folder)
    return `${acknowledged} creates filled ${DISK_SIZE}; reads, deletes, pauses and restarts continued, all else once there was space; none lost`
  } finally {
    if (status === 0) spawnSync('/bin/umount', [folder])
    await rm(folder, { recursive: true, force: true })
  }
}

async function flushOrder(): Promise<string> {
  if (spawnSync('strace', ['--version']).status !== 0) return 'not run: there is no strace'
  const folder = await mkdtemp(join(tmpdir(), 'pharos-flushes-'))
  try {
    await watchFlushes(folder, FLUSHES)
    return `${FLUSHES} creates, each acknowledged after the flush of its commit`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function conformOnCopies(): Promise<string> {
  await runTests(['server/testing/conformance'], { PHAROS_TEST_RESTORED: 'yes' })
  return 'every conformance test passes on a copy restored from a backup'
}

/** Runs in full the tests that the suite runs in part, which import scripts/testing/torture.ts. */
async function wholeTests(): Promise<string> {
  const listed = execFileSync('git', ['grep', '-l', "scripts/testing/torture.ts'", '--', '*.test.ts'])
  const files = listed.toString().trim().split('\n')
  await runTests(files, { PHAROS_TEST_TORTURE: 'yes' })
  return `every case of ${files.length} files holds`
}

/** Runs test files. Rejects with their output when one fails. */
async function runTests(files: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn('npx', ['vitest', 'run', '--silent=true', '--testTimeout=900000', ...files], {
    env: { ...process.env, ...environment, NO_COLOR: 'yes' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const [code]: unknown[] = await once(child, 'close')
  // The failures are at the end.
  if (code !== 0) throw new Error(output.slice(-OUTPUT_CHARS_MAX))
}

const STRESS_TESTS: Readonly<Record<string, StressTest>> = {
  kill,
  notifications: killSender,
  order,
  'flush order': flushOrder,
  'full disk': fill,
  'restored copy': conformOnCopies,
  'whole tests': wholeTests,
  fuzz: fuzzAll,
}

process.stdout.write(`seed ${SEED} (TORTURE_SEED repeats it)\n`)
const violated: string[] = []
for (const [name, stressTest] of Object.entries(STRESS_TESTS)) {
  const showProgress = (text: string): void => {
    if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${name}: ${text}`)
  }
  showProgress('begun')
  try {
    const line = await stressTest(showProgress)
    process.stdout.write(`${process.stdout.isTTY ? '\r\u001b[K' : ''}${name}: ${line}\n`)
  } catch (error) {
    violated.push(name)
    process.stdout.write(`\n${name}: VIOLATED: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
process.stdout.write(
  violated.length === 0 ? 'torture: nothing was violated\n' : `torture: violated in ${violated.join(', ')}\n`,
)
process.exitCode = violated.length === 0 ? 0 : 1
