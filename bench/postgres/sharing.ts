/**
 * The promises of several servers on one PostgreSQL, in numbers: exact limits, a feed that loses nothing, the time from
 * a change at one server to the check by an agent at another, concurrent starts, and a move of many services. Exits
 * with 1 when a promise is broken. Times are printed beside their limits, for the reader to judge.
 *
 * Run with `node --import tsx bench/postgres/sharing.ts [rounds] [services to move]`.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { buildPrograms } from '../../scripts/build.mjs'
import { monotonicMs, systemEnvironment } from '../../server/process/systemEnvironment.ts'
import { openStore } from '../../server/store/postgres/openStore.ts'
import { postgresEngine } from '../../server/store/postgres/postgresEngine.ts'
import { sqliteEngine } from '../../server/store/sqlite/sqliteEngine.ts'
import { startAgentProcess } from '../../server/testing/agentProcess.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { runHere } from '../../server/testing/commandHere.ts'
import { seedOrg, shareDatabase } from '../../server/testing/manyServers/sharedDatabase.ts'
import { startCluster } from '../../server/testing/postgres/cluster.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'
import { startProcess } from '../../server/testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../server/testing/storedServices.ts'
import { startTarget } from '../../server/testing/target.ts'

const [rounds = 100, moved = 100_000] = process.argv.slice(2).map(Number)
const CREATES = 300
const SERVICES_MAX = 50
/** Number of requests that a key may send at once, with a margin. */
const REQUESTS_PER_KEY = 15
const RATE_SECS = 60
const [WRITERS, COMMANDS] = [8, 100_000]
const CHANGES = 100

await buildPrograms((out) => out.startsWith('pharos-server'))
const cluster = await startCluster('full')
const url = await cluster.createMigrated()
const database = shareDatabase(url)
const servers = await Promise.all([1, 2, 3].map(() => database.start()))
const many = (count: number) => Array.from({ length: count }, (_, index) => index)
const urlOf = (index: number): string => servers[index % servers.length]?.url ?? ''

function report(isRight: boolean, line: string): void {
  process.stdout.write(`${isRight ? 'ok   ' : 'WRONG'} ${line}\n`)
  if (!isRight) process.exitCode = 1
}

/** The value below which the fraction `share` of `values` is. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}

async function planLimits(): Promise<void> {
  const made: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const { keys } = await seedOrg(url, CREATES / REQUESTS_PER_KEY, { servicesMax: SERVICES_MAX })
    const responses = await Promise.all(
      many(CREATES).map((index) =>
        apiClient(urlOf(index), keys[Math.floor(index / REQUESTS_PER_KEY)] ?? '').post(
          '/v1/services',
          serviceBody(),
        ),
      ),
    )
    made.push(responses.filter(({ status }) => status === 201).length)
  }
  const wrong = made.filter((count) => count !== SERVICES_MAX)
  report(
    wrong.length === 0,
    `${rounds} times ${CREATES} creates at three servers with a limit of ${SERVICES_MAX}: ${wrong.length} times another number`,
  )
}

async function rateLimit(): Promise<void> {
  const { keys } = await seedOrg(url, 1)
  let accepted = 0
  const startMs = performance.now()
  const sent: Promise<void>[] = []
  // Three times the key's rate.
  for (let index = 0; performance.now() - startMs < RATE_SECS * 1_000; index += 1) {
    sent.push(
      apiClient(urlOf(index), keys[0] ?? '')
        .get('/v1/services')
        .then(({ status }) => {
          if (status === 200) accepted += 1
        }),
    )
    await sleep(1_000 / 15)
  }
  await Promise.all(sent)
  const due = 20 + 5 * RATE_SECS
  report(
    Math.abs(accepted - due) <= 2,
    `a key at three servers for ${RATE_SECS} s, three times too fast: ${accepted} of ${due} requests accepted`,
  )
}

async function feed(): Promise<void> {
  const store = await openStore(url, STOPPED_CLOCKS)
  const random = seededRandom(1)
  const orgId = randomUUID()
  const startMs = performance.now()
  let isWriting = true
  const writing = Promise.all(
    many(WRITERS).map(async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      for (let left = COMMANDS / WRITERS; left > 0; ) {
        const count = Math.min(left, 1 + Math.floor(random() * 50))
        await client.query('BEGIN')
        await client.query(
          `INSERT INTO commands (type, region, service_id, generation, org_id, number, created_at_ms)
           SELECT 'EndServiceMonitoring', 'eu-west-1', gen_random_uuid(), 1, $1, 0, 0 FROM generate_series(1, $2)`,
          [orgId, count],
        )
        // Other transactions commit meanwhile with higher numbers.
        await sleep(random() * 5)
        await client.query('COMMIT')
        left -= count
      }
      await client.end()
    }),
  ).finally(() => {
    isWriting = false
  })
  const seen = new Set<string>()
  let doubled = 0
  for (let after = 0, isLast = false; !isLast; ) {
    isLast = !isWriting
    const upTo = await store.newestCommand()
    for (;;) {
      const page = await store.changedServices({ after, upTo, region: 'eu-west-1', countMax: 500 })
      for (const { serviceId } of page) {
        if (seen.has(serviceId)) doubled += 1
        seen.add(serviceId)
      }
      const newest = page.at(-1)
      if (newest === undefined) break
      after = newest.sequence
    }
    await sleep(5)
  }
  await writing
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ id: string }>(
    'SELECT service_id AS id FROM commands WHERE org_id = $1',
    [orgId],
  )
  const missed = rows.filter(({ id }) => !seen.has(id)).length
  await client.query('DELETE FROM commands WHERE org_id = $1', [orgId])
  await client.end()
  await store.close()
  const secs = (performance.now() - startMs) / 1_000
  report(
    missed + doubled === 0,
    `${rows.length} commands of ${WRITERS} writers in ${secs.toFixed(0)} s: ${missed} never seen, ${doubled} seen twice`,
  )
}

/**
 * Measures the time from the response to a create, at a server that does not monitor, to the first request of an
 * agent's check.
 */
async function changeToCheck(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-sharing-'))
  const target = await startTarget()
  const flags = [...database.flags.slice(0, -1), 'on']
  const more = ['--allow-ranges', '127.0.0.0/8', '--agent-port', '0']
  const first = await startProcess(flags, more)
  const second = await startProcess(flags, more)
  const admin = async (...args: readonly string[]) =>
    JSON.parse((await runHere([...args, '--database', url, '--json'])).stdout)
  const { token } = await admin('agent', 'create', '--region', 'eu-west-1', '--name', 'bench')
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 })
  const agents = /^agents on (\S+)$/m.exec(second.stdout())?.[1] ?? ''
  const agent = startAgentProcess([
    '--server',
    agents,
    '--token-file',
    join(folder, 'token'),
    '--allow-ranges',
    '127.0.0.0/8',
  ])
  const { keys } = await seedOrg(url, Math.ceil(CHANGES / REQUESTS_PER_KEY) + 1)
  const times: number[] = []
  for (let index = 0; index <= CHANGES; index += 1) {
    const path = `/${index}`
    const body = serviceBody({ regions: ['eu-west-1'], endpoints: [endpointBody({ url: target.url(path) })] })
    const { status } = await apiClient(second.url, keys[Math.floor(index / REQUESTS_PER_KEY)] ?? '').post(
      '/v1/services',
      body,
    )
    const createdMs = performance.now()
    if (status !== 201) throw new Error(`a create got ${status}`)
    await target.visited(path, 1)
    // The first check waits for the agent.
    if (index > 0) times.push(performance.now() - createdMs)
  }
  await agent.stop()
  await second.stop()
  await first.stop()
  target.close()
  rmSync(folder, { recursive: true })
  process.stdout.write(
    `     a change at one server until the check by an agent at another: p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms (agents wait up to 2 s between first checks of one host)\n`,
  )
}

async function startsAtOnce(): Promise<void> {
  let failures = 0
  for (let round = 0; round < 20; round += 1) {
    const empty = await cluster.createEmpty()
    const started = await Promise.allSettled(
      many(5).map(() => postgresEngine(empty, { nowMs: Date.now, monotonicMs }).open('serve')),
    )
    const ids = new Set<string>()
    for (const one of started) {
      if (one.status === 'rejected') {
        failures += 1
        process.stdout.write(`     ${one.reason}\n`)
      } else {
        ids.add(one.value.storeId)
        await one.value.close()
      }
    }
    if (ids.size !== 1) failures += 1
    await cluster.drop(empty)
  }
  report(failures === 0, `five programs that start on an empty database, 20 times: ${failures} failures`)
}

async function move(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-moving-'))
  const dataDir = join(folder, 'data')
  const engine = sqliteEngine(dataDir, systemEnvironment.nowMs)
  const store = await engine.open('administer')
  await store.activateMasterKey('first', 0)
  const orgId = await storeOrg(store)
  await storeService(store, orgId)
  await store.close()
  const file = new Sqlite(join(dataDir, 'control.db'))
  file.exec(`INSERT INTO services (id, org_id, generation, definition_generation, running_in, response)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${moved})
    SELECT printf('00000000-0000-7000-8000-%012x', i), org_id, 1, 1, running_in, response FROM n, (SELECT * FROM services LIMIT 1)`)
  file.close()
  const empty = await cluster.createEmpty()
  const startMs = performance.now()
  const { code, stderr } = await runHere(['migrate', '--from', dataDir, '--to', empty])
  const secs = (performance.now() - startMs) / 1_000
  await cluster.drop(empty)
  rmSync(folder, { recursive: true })
  if (code !== 0) process.stdout.write(stderr)
  report(
    code === 0,
    `${moved} services moved and compared in ${secs.toFixed(1)} s: a million would take ${((secs * 1e6) / moved).toFixed(0)} s (limit 120 s)`,
  )
}

try {
  await planLimits()
  await feed()
  await startsAtOnce()
  await changeToCheck()
  await move()
  await rateLimit()
} finally {
  await Promise.all(servers.map((server) => server.stop()))
  await database.remove()
  await cluster.stop()
}
