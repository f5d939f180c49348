import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService } from '../../../domain/serviceChanges.ts'
import { openIncident } from '../../../domain/incidentChanges.ts'
import { monotonicMs, systemEnvironment } from '../../../process/systemEnvironment.ts'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { type LossyProxy, startLossyProxy } from '../../../testing/postgres/lossyProxy.ts'
import { serviceBody } from '../../../testing/serviceBodies.ts'
import type { CreationFingerprint, Store } from '../../store.ts'
import { withConnection } from '../schema/migrate.ts'
import { openStore } from '../openStore.ts'

const clocks = { nowMs: () => 0, monotonicMs }
const making = {
  ...systemEnvironment,
  nowMs: 0,
  isBlocked: () => false,
  seal: () => {
    throw new Error('the body has no secret')
  },
}

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
  stores = await Promise.all([1, 2, 3].map(() => openStore(url, clocks)))
  await stores[0]?.activateMasterKey('first', 0)
  proxy = await startLossyProxy(url)
  distant = await openStore(proxy.url, clocks)
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

async function newOrg(servicesMax?: number): Promise<string> {
  const id = systemEnvironment.uuid()
  await at(0).createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
  if (servicesMax !== undefined) await at(0).overrideLimits(id, { servicesMax })
  return id
}

const create = (store: Store, orgId: string, fingerprint?: CreationFingerprint, name = 'Checkout') =>
  store.createService(orgId, fingerprint, ({ standing }) =>
    createService(serviceBody({ name }), { ...making, standing }),
  )

const open = (store: Store, orgId: string) =>
  store.createIncident(orgId, { by: { kind: 'system' }, wantedServiceIds: [] }, (facts) =>
    openIncident(
      { title: 'x', message: 'x', severity: 'major_outage', service_ids: [] },
      facts,
      systemEnvironment,
    ),
  )

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

test('of creations in three processes at once exactly as many succeed as the plan allows', async () => {
  const orgId = await newOrg(20)

  const results = await Promise.allSettled(many(90).map((index) => create(at(index), orgId)))

  const made = results.filter(({ status }) => status === 'fulfilled')
  const { usage } = await at(0).orgUse(orgId)
  expect([made.length, usage.activeServices, (await at(1).listServices(orgId)).length]).toEqual([20, 20, 20])
})

test('incidents opened in three processes at once have the numbers from 1 on, each once', async () => {
  const orgId = await newOrg()

  const incidents = await Promise.all(many(60).map((index) => open(at(index), orgId)))

  const numbers = incidents.map(({ display_id }) => Number(display_id.slice('INC-'.length)))
  expect(numbers.toSorted((a, b) => a - b)).toEqual(many(60).map((index) => index + 1))
})

test('one Idempotency-Key in three processes at once makes one service, and all get its answer', async () => {
  const orgId = await newOrg()
  const bodyFingerprint = hash('sha256', 'body', 'buffer')
  const fingerprint = {
    keyHash: hash('sha256', 'key', 'buffer'),
    ...{ bodyFingerprint, earlierBodyFingerprint: () => bodyFingerprint },
  }

  const answers = await Promise.all(many(12).map((index) => create(at(index), orgId, fingerprint)))

  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(await at(0).listServices(orgId)).toHaveLength(1)
})

test('a creation whose answer is lost after its commit is found, and not made again', async () => {
  const orgId = await newOrg()

  const lost = proxy.loseAnswerTo('Lost answer')
  const [made] = await Promise.all([create(distant, orgId, undefined, 'Lost answer'), lost])

  const stored = await at(0).listServices(orgId)
  expect(stored.map(({ text }) => text)).toEqual([made.text])
  expect((await at(0).orgUse(orgId)).usage.storedServices).toBe(1)
  expect(await at(0).listAudit(orgId, 10)).toHaveLength(2)
})

test('a creation during a short outage of the database is made when that ends', async () => {
  const orgId = await newOrg()
  await create(distant, orgId)

  proxy.cut()
  const made = create(distant, orgId)
  setTimeout(() => proxy.restore(), 300)
  await made

  expect(await at(0).listServices(orgId)).toHaveLength(2)
})

test('an organisation that another program holds refuses its own mutations after the lock timeout, and no other one', async () => {
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

test('a store that closes finishes what has begun and refuses the rest', async () => {
  const orgId = await newOrg()
  const closing = await openStore(url, clocks)

  const begun = create(closing, orgId)
  await Promise.resolve()
  await Promise.resolve()
  closing.waitNoMore()
  const late = create(closing, orgId)
  const [first, second] = await Promise.allSettled([begun, late])
  await closing.close()

  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
  expect(await at(0).listServices(orgId)).toHaveLength(1)
})
