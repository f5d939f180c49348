import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openIncident } from '../../../domain/incidentChanges.ts'
import { systemEnvironment } from '../../../process/systemEnvironment.ts'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { type LossyProxy, startLossyProxy } from '../../../testing/postgres/lossyProxy.ts'
import { storeService as create, STOPPED_CLOCKS, storeOrg } from '../../../testing/storedServices.ts'
import type { Store } from '../../store.ts'
import { openPools, type Pools } from '../connections/pools.ts'
import type { Sql } from '../connections/sql.ts'
import { openStore } from '../openStore.ts'
import { withConnection } from '../schema/migrate.ts'
import { OrgQueues } from './orgQueues.ts'

let cluster: Cluster
let url: string
/** As of three processes. */
let stores: readonly Store[]
let proxy: LossyProxy
/** Its connections go through the proxy. */
let distant: Store
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createMigrated()
  stores = await Promise.all([1, 2, 3].map(() => openStore(url, STOPPED_CLOCKS)))
  await stores[0]?.activateMasterKey('first', 0)
  proxy = await startLossyProxy(url)
  distant = await openStore(proxy.url, STOPPED_CLOCKS)
})
afterAll(async () => {
  await Promise.all([...stores, distant].map((store) => store.close()))
  await proxy.close()
  await cluster.drop(url)
})

/** The store of the process with this number, which goes round. */
function at(index: number): Store {
  const store = stores[index % stores.length]
  if (store === undefined) throw new Error('there is no store')
  return store
}

const newOrg = (servicesMax?: number) => storeOrg(at(0), servicesMax)

const ACT = {
  by: { kind: 'system' },
  action: 'service.update',
  targetId: 'x',
  nowMs: 0,
  detail: {},
} as const

const open = (store: Store, orgId: string) =>
  store.createIncident(orgId, { by: { kind: 'system' }, wantedServiceIds: [] }, (facts) =>
    openIncident(
      { title: 'x', message: 'x', severity: 'major_outage', service_ids: [] },
      facts,
      systemEnvironment,
    ),
  )

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

test('of simultaneous creations in three processes exactly as many succeed as the plan allows', async () => {
  const orgId = await newOrg(20)

  const results = await Promise.allSettled(many(90).map((index) => create(at(index), orgId)))

  const made = results.filter(({ status }) => status === 'fulfilled')
  const { usage } = await at(0).orgUse(orgId)
  expect([made.length, usage.activeServices, (await at(1).listServices(orgId)).length]).toEqual([20, 20, 20])
})

test('incidents opened in three processes at once are numbered from 1, each number once', async () => {
  const orgId = await newOrg()

  const incidents = await Promise.all(many(60).map((index) => open(at(index), orgId)))

  const numbers = incidents.map(({ display_id }) => Number(display_id.slice('INC-'.length)))
  expect(numbers.toSorted((a, b) => a - b)).toEqual(many(60).map((index) => index + 1))
})

test('one Idempotency-Key in three processes at once creates one service, and all get its response', async () => {
  const orgId = await newOrg()
  const bodyFingerprint = hash('sha256', 'body', 'buffer')
  const fingerprint = {
    keyHash: hash('sha256', 'key', 'buffer'),
    ...{ bodyFingerprint, earlierBodyFingerprint: () => bodyFingerprint },
  }

  const responses = await Promise.all(many(12).map((index) => create(at(index), orgId, { fingerprint })))

  expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  expect(await at(0).listServices(orgId)).toHaveLength(1)
})

test('a creation whose response is lost after its commit is found, and not repeated', async () => {
  const orgId = await newOrg()

  const lost = proxy.loseResponseTo('Lost response')
  const [made] = await Promise.all([create(distant, orgId, { name: 'Lost response' }), lost])

  const stored = await at(0).listServices(orgId)
  expect(stored.map(({ text }) => text)).toEqual([made.text])
  expect((await at(0).orgUse(orgId)).usage.storedServices).toBe(1)
  expect(await at(0).listAudit(orgId, 10)).toHaveLength(2)
})

test('a creation during a short outage of the database is made after its end', async () => {
  const orgId = await newOrg()
  await create(distant, orgId)

  proxy.cut()
  const made = create(distant, orgId)
  setTimeout(() => proxy.restore(), 300)
  await made

  expect(await at(0).listServices(orgId)).toHaveLength(2)
})

test('mutations of an organisation locked by another program are refused after the lock timeout, and those of others are not', async () => {
  const [held, free] = [await newOrg(), await newOrg()]

  await withConnection(url, async (client) => {
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM orgs WHERE id = $1 FOR UPDATE', [held])
    const refused = create(at(0), held)
    await create(at(0), free)
    await expect(refused).rejects.toThrow('lock timeout')
    await client.query('ROLLBACK')
  })

  await create(at(0), held)
  expect(await at(0).listServices(held)).toHaveLength(1)
})

test('a closing store finishes the mutations in progress and refuses the rest', async () => {
  const orgId = await newOrg()
  const closing = await openStore(url, STOPPED_CLOCKS)

  const begun = create(closing, orgId)
  await Promise.resolve()
  await Promise.resolve()
  closing.rejectWaiting()
  const late = create(closing, orgId)
  const [first, second] = await Promise.allSettled([begun, late])
  await closing.close()

  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
  expect(await at(0).listServices(orgId)).toHaveLength(1)
})

test('a mutation that lost three races locks the organisation, and wins the fourth', async () => {
  const orgId = await newOrg()
  const pools = openPools(url, STOPPED_CLOCKS.monotonicMs)
  const locks: string[] = []
  /** Another program is faster each time, unless the organisation is locked. */
  const contested: Sql = {
    rows: async (text, values) => {
      if (text.startsWith('WITH o AS')) {
        locks.push('none')
        await at(0).overrideLimits(orgId, { servicesMax: locks.length + 10 })
      }
      return await pools.write.rows(text, values)
    },
  }
  const inTransaction: Pools['inTransaction'] = (work) => {
    locks.push('organisation')
    return pools.inTransaction(work)
  }
  const queues = new OrgQueues({ write: contested, inTransaction }, STOPPED_CLOCKS)

  await queues.run(orgId, { reads: {}, decide: (draft) => draft.note(ACT) })

  expect(locks).toEqual(['none', 'none', 'none', 'organisation'])
  const actions = (await at(0).listAudit(orgId, 20)).map(({ action }) => action)
  expect(actions.filter((action) => action === ACT.action)).toHaveLength(1)
  await pools.close()
})

test('a statement writes at most about four MiB, and the rest waits for the next one', async () => {
  const orgId = await newOrg()
  const writes = () =>
    withConnection(url, async (client) => {
      const text = `SELECT count(DISTINCT write_id) AS count FROM audit WHERE org_id = $1 AND action = 'service.create'`
      return (await client.query<{ count: number }>(text, [orgId])).rows[0]?.count
    })

  await Promise.all(many(64).map((index) => create(at(0), orgId, { name: `Small ${index}` })))
  const ofSmall = await writes()
  await Promise.all(many(10).map(() => create(at(0), orgId, { name: 'x'.repeat(1_024 * 1_024) })))

  expect([ofSmall, await writes()]).toEqual([1, 4])
  expect(await at(1).listServices(orgId)).toHaveLength(74)
})
