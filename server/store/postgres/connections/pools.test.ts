import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../../testing/storedServices.ts'
import { openStore } from '../openStore.ts'
import { withConnection } from '../schema/migrate.ts'
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

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

test('requests beyond those that wait for a connection are refused at once', async () => {
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
