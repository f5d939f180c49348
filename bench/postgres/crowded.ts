/**
 * The effect of one organisation, one key or one killed start on others with the same PostgreSQL: reads beside 1,000
 * waiting creates of another organisation, database transactions caused by a flooding key, and killed migrations. Exits
 * with 1 when a promise is broken. Times are printed beside their limits, for the reader to judge.
 *
 * node --import tsx bench/postgres/crowded.ts [kills]
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildPrograms } from '../../scripts/build.mjs'
import { withConnection } from '../../server/store/postgres/schema/migrate.ts'
import { MIGRATIONS } from '../../server/store/postgres/schema/migrations.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { seedOrg, shareDatabase } from '../../server/testing/manyServers/sharedDatabase.ts'
import { startCluster } from '../../server/testing/postgres/cluster.ts'
import { PROGRAM, type ServerProcess } from '../../server/testing/serverProcess.ts'
import type { Creates } from './creator.ts'

const [kills = 30] = process.argv.slice(2).map(Number)
const CREATES = 1_000
const CREATES_PER_KEY = 10
/** Slows down every statement that creates services. */
const SLOW_CREATES = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
  CREATE TRIGGER slow BEFORE UPDATE ON orgs FOR EACH ROW EXECUTE FUNCTION slow()`
/** Number of requests that a key may send at once, with a margin. */
const REQUESTS_PER_KEY = 15
/** Pause between the reads of another organisation (milliseconds), and number of keys for all these reads. */
const READ_PAUSE_MS = 5
const READ_KEYS = 200
/** Time until the server has read all creates (milliseconds). */
const ARRIVE_MS = 3_000
const FLOOD_SECS = 10
const IDLE_MS = 5_000
/** Maximum time until a session reports its statistics (milliseconds). */
const REPORT_MS = 1_500
const FLOOD_PER_SECOND = 1_000
/** Maximum time after which a migration is killed (milliseconds). */
const KILL_MS_MAX = 1_500

function report(isRight: boolean, line: string): void {
  process.stdout.write(`${isRight ? 'ok   ' : 'WRONG'} ${line}\n`)
  if (!isRight) process.exitCode = 1
}

/** The value below which the fraction `share` of `values` is. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}

const shown = (times: readonly number[]): string =>
  `p50 ${quantile(times, 0.5).toFixed(0)} ms and p99 ${quantile(times, 0.99).toFixed(0)} ms`

/** Sends reads of one organisation, one at a time, until `isDone`. Resolves with their times (milliseconds). */
async function readUntil(url: string, keys: readonly string[], isDone: () => boolean): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; !isDone(); index += 1) {
    const key = keys[Math.floor(index / REQUESTS_PER_KEY) % keys.length] ?? ''
    const begunAtMs = performance.now()
    const { status } = await apiClient(url, key).get('/v1/org')
    if (status === 200) times.push(performance.now() - begunAtMs)
    await sleep(READ_PAUSE_MS)
  }
  return times
}

/**
 * Limit 11: a process uses one connection for all writes of an organisation. The creates come from a separate process
 * and wait for one another, because each statement that creates some is slow.
 */
async function besideCreates(
  server: ServerProcess,
  writing: readonly string[],
  reading: readonly string[],
): Promise<void> {
  const idle = await readUntil(server.url, reading.slice(0, 20), countTo(100))
  await withConnection(url, (client) => client.query(SLOW_CREATES))
  const creator = fork(new URL('./creator.ts', import.meta.url), { execArgv: ['--import', 'tsx'] })
  creator.send({ url: server.url, keys: writing, perKey: CREATES / writing.length } satisfies Creates)
  await once(creator, 'message')
  let isDone = false
  const finished = once(creator, 'message').finally(() => {
    isDone = true
  })
  const begunAtMs = performance.now()
  const arriving = await readUntil(
    server.url,
    reading.slice(20),
    () => performance.now() - begunAtMs > ARRIVE_MS,
  )
  const times = await readUntil(server.url, reading.slice(20), () => isDone)
  const secs = (performance.now() - begunAtMs) / 1_000
  const [made]: unknown[] = await finished
  await withConnection(url, (client) => client.query('DROP FUNCTION slow() CASCADE'))
  report(
    made === CREATES && times.length > 0,
    `${made} of ${CREATES} waiting creates of an organisation made in ${secs.toFixed(1)} s; ${times.length} reads of another one meanwhile: ` +
      `${shown(times)} (limit of p99 100 ms), ${shown(arriving)} while the creates arrive, ${shown(idle)} when idle`,
  )
}

/** A predicate that becomes true after `count` calls. */
function countTo(count: number): () => boolean {
  let asked = 0
  return () => {
    asked += 1
    return asked > count
  }
}

/** Limit 5: refused requests cost the database little. */
async function flood(server: ServerProcess, key: string): Promise<void> {
  const transactions = () =>
    withConnection(url, async (client) => {
      await client.query('SELECT pg_stat_force_next_flush()').catch(() => {})
      const { rows } = await client.query<{ count: number }>(
        'SELECT (xact_commit + xact_rollback)::bigint AS count FROM pg_stat_database WHERE datname = current_database()',
      )
      return Number(rows[0]?.count ?? 0)
    })
  const idleBefore = await transactions()
  await sleep(IDLE_MS)
  const before = await transactions()
  const idle = ((before - idleBefore) * 1_000) / IDLE_MS
  const statuses = new Map<number, number>()
  const sent: Promise<void>[] = []
  const startMs = performance.now()
  for (let index = 0; index < FLOOD_SECS * FLOOD_PER_SECOND; index += 1) {
    const dueMs = startMs + (index * 1_000) / FLOOD_PER_SECOND
    if (dueMs > performance.now()) await sleep(dueMs - performance.now())
    const counted = apiClient(server.url, key)
      .get('/v1/org')
      .then(({ status }) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
    sent.push(counted)
    if (index % 100 === 99) await Promise.all(sent.splice(0))
  }
  await Promise.all(sent)
  const secs = (performance.now() - startMs) / 1_000
  await sleep(REPORT_MS)
  const each = ((await transactions()) - before) / (secs + REPORT_MS / 1_000) - idle
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  report(
    each <= 30,
    `one key sends ${((FLOOD_SECS * FLOOD_PER_SECOND) / secs).toFixed(0)} requests a second for ${secs.toFixed(0)} s (${counts}): ${each.toFixed(1)} transactions a second in the database (limit 30), besides ${idle.toFixed(1)} when idle`,
  )
}

/** Limit 9: steps of a killed migration are repeated. */
async function killedMigrations(): Promise<void> {
  const empty = await cluster.createEmpty()
  const versions = new Set<number>()
  for (let kill = 0; kill < kills; kill += 1) {
    const child = spawn(process.execPath, [PROGRAM, 'migrate', '--database', empty], { stdio: 'ignore' })
    await Promise.race([once(child, 'exit'), sleep((KILL_MS_MAX * (kill + 1)) / kills)])
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    versions.add(await versionOf(empty))
  }
  const last = spawn(process.execPath, [PROGRAM, 'migrate', '--database', empty], { stdio: 'inherit' })
  const [code]: unknown[] = await once(last, 'exit')
  const version = await versionOf(empty)
  report(
    code === 0 && version === MIGRATIONS.length,
    `a migration killed ${kills} times, with ${[...versions].toSorted((a, b) => a - b)} of ${version} steps left behind: the next one ends with ${code}, at ${version}`,
  )
}

/** Number of migration steps taken in a database. */
function versionOf(url: string): Promise<number> {
  return withConnection(url, async (client) => {
    const { rows: found } = await client.query<{ meta: string | null }>(
      "SELECT to_regclass('meta')::text AS meta",
    )
    if (found[0]?.meta == null) return 0
    const { rows } = await client.query<{ version: number }>('SELECT version FROM meta')
    return rows[0]?.version ?? 0
  })
}

await buildPrograms((out) => out.startsWith('pharos-server'))
const cluster = await startCluster('full')
const url = await cluster.createMigrated()
const database = shareDatabase(url)
try {
  const server = await database.start()
  const { keys } = await seedOrg(url, CREATES / CREATES_PER_KEY)
  await besideCreates(server, keys, (await seedOrg(url, READ_KEYS)).keys)
  await flood(server, keys[0] ?? '')
  await server.stop()
  await killedMigrations()
} finally {
  await database.remove()
  await cluster.stop()
}
