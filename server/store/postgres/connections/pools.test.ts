import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../../testing/storedServices.ts'
import { openStore } from '../openStore.ts'
import { withConnection } from '../schema/migrate.ts'
import { DatabaseDown } from './circuit.ts'
import { isLost } from './failures.ts'
import { openPools } from './pools.ts'

let cluster: Cluster
let url: string
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createMigrated()
  const store = await openStore(url, STOPPED_CLOCKS)
  await store.activateMasterKey('first', 0)
  await store.close()
})
afterAll(() => cluster.drop(url))

/** A connection as the database server sees it. */
interface Backend {
  readonly pid: number
  readonly isWaiting: boolean
}

/** The connections of pools, as soon as there are `count`, of which `waiting` have a statement under way. */
async function backends(
  client: ClientBase,
  { count, waiting }: { readonly count: number; readonly waiting: number },
): Promise<readonly Backend[]> {
  for (;;) {
    const { rows } = await client.query<Backend>(
      `SELECT pid, wait_event IS NOT DISTINCT FROM 'PgSleep' AS "isWaiting" FROM pg_stat_activity
       WHERE application_name = 'pharos-server' AND datname = current_database() AND pid <> pg_backend_pid()`,
    )
    if (rows.length === count && rows.filter(({ isWaiting }) => isWaiting).length === waiting) return rows
  }
}

/** The result of `work`, which is repeated while statements are refused. */
async function untilUp<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseDown)) throw error
      await sleep(10)
    }
  }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

test('requests beyond those that wait for a connection are refused at once', async ({ onTestFinished }) => {
  // Otherwise those that wait would time out on a slow machine.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const pools = openPools(url, STOPPED_CLOCKS.monotonicMs)
  const read = (text: string) => pools.read.rows(text)
  await withConnection(url, async (client) => {
    await client.query('SELECT pg_advisory_lock(1)')
    const held = many(6).map(() => read('SELECT pg_advisory_xact_lock_shared(1)'))
    const waiting = many(1_000).map(() => read('SELECT 1'))
    const refused = await Promise.allSettled(many(5).map(() => read('SELECT 1')))
    const first = await Promise.race([...held, ...waiting, Promise.resolve('none')])
    await client.query('SELECT pg_advisory_unlock(1)')
    const results = await Promise.all([...held, ...waiting])

    expect(refused.map((one) => one.status === 'rejected' && one.reason.message)).toEqual(
      many(5).map(() => 'too many requests wait for the database'),
    )
    expect([first, results.length]).toEqual(['none', 1_006])
  })
  await pools.close()
})

test('when statements are lost for a second, those under way end as lost too, and the next get new connections', async () => {
  let nowMs = 0
  const pools = openPools(url, () => nowMs)
  const ownPid = 'SELECT pg_backend_pid() AS pid'
  // Takes long only while the lock is held.
  const long = `SELECT pg_backend_pid() AS pid,
    pg_sleep(CASE WHEN pg_try_advisory_xact_lock_shared(2) THEN 0 ELSE 60 END)`
  const snapshot = await pools.longReader()
  await snapshot.query('BEGIN')
  await Promise.all(many(6).map(() => pools.write.rows(ownPid)))
  await withConnection(url, async (client) => {
    await client.query('SELECT pg_advisory_lock(2)')
    const [lost, ...under] = many(3).map(() => pools.write.rows<Backend>(long))
    const lastInTransaction = pools.inTransaction(async (sql) => {
      await sql.rows(ownPid)
      await Promise.allSettled(under)
      return sql.rows(ownPid)
    })
    const [read, admission] = [pools.read.rows<Backend>(long), pools.admission.rows<Backend>(long)]
    const settled = Promise.allSettled([lost, ...under, lastInTransaction])
    const before = await backends(client, { count: 9, waiting: 5 })

    await client.query('SELECT pg_advisory_unlock(2)')
    nowMs = 1_000
    await client.query('SELECT pg_terminate_backend($1)', [before.find(({ isWaiting }) => isWaiting)?.pid])
    const outcomes = await settled
    const next = await untilUp(() => Promise.all(many(20).map(() => pools.write.rows<Backend>(ownPid))))
    const later = [...next, await read, await admission].flat().map(({ pid }) => pid)

    const reasons = outcomes.map((one) => one.status === 'rejected' && one.reason)
    expect(reasons.map((reason) => isLost(reason) || reason)).toEqual(many(4).map(() => true))
    expect(later.filter((pid) => before.some((backend) => backend.pid === pid))).toEqual([])
    expect((await snapshot.query('SELECT 1')).rowCount).toBe(1)
    snapshot.release()
    await pools.close()
    // The database server notices only after a statement that its client has gone.
    await client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [
      before.map(({ pid }) => pid),
    ])
    expect(await backends(client, { count: 0, waiting: 0 })).toEqual([])
  })
})

test.each(['40001', '40P01'])(
  'a mutation that the database aborts because of another transaction is retried: %s',
  async (state) => {
    const store = await openStore(url, STOPPED_CLOCKS)
    const orgId = await storeOrg(store)
    // A sequence counts what is rolled back too.
    await withConnection(url, (client) =>
      client.query(`CREATE SEQUENCE tries;
        CREATE FUNCTION aborting() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN IF nextval('tries') < 3 THEN RAISE EXCEPTION 'x' USING ERRCODE = '${state}'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER aborting BEFORE INSERT ON services FOR EACH ROW EXECUTE FUNCTION aborting()`),
    )
    const { text } = await storeService(store, orgId)
    const listed = await store.listServices(orgId)
    const tries = await withConnection(url, async (client) => {
      const { rows } = await client.query<{ tries: number }>('SELECT last_value AS tries FROM tries')
      await client.query('DROP FUNCTION aborting CASCADE; DROP SEQUENCE tries')
      return rows[0]?.tries
    })
    await store.close()

    expect(listed.map((one) => one.text)).toEqual([text])
    expect(tries).toBe(3)
  },
)
