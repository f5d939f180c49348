import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ApiError } from '../../../../api/contract/apiError.ts'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { type LossyProxy, startLossyProxy } from '../../../testing/postgres/lossyProxy.ts'
import { STOPPED_CLOCKS, storeOrg, storeService } from '../../../testing/storedServices.ts'
import type { Store } from '../../store.ts'
import { openStore } from '../openStore.ts'
import { withConnection } from '../schema/migrate.ts'
import { DatabaseDown } from './circuit.ts'

let cluster: Cluster
let url: string
/** Not affected by what the proxy does. */
let near: Store
let proxy: LossyProxy
/** Its connections go through the proxy. */
let distant: Store
let orgId: string
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createMigrated()
  near = await openStore(url, STOPPED_CLOCKS)
  await near.activateMasterKey('first', 0)
})
beforeEach(async () => {
  proxy = await startLossyProxy(url)
  distant = await openStore(proxy.url, IMPATIENT)
  orgId = await storeOrg(near)
})
afterEach(async () => {
  await distant.close()
  await proxy.close()
})
afterAll(async () => {
  await near.close()
  await cluster.drop(url)
})

/** Four times as fast: no test waits for all of the five seconds in which a statement is repeated. */
const IMPATIENT = { ...STOPPED_CLOCKS, monotonicMs: () => 4 * STOPPED_CLOCKS.monotonicMs() }

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Repeats `work` until it succeeds; the run's time limit ends it. */
async function untilDone<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch {
      await sleep(50)
    }
  }
}

/** The error of `work`, which is repeated while it is not a DatabaseDown. */
async function untilDown(work: () => Promise<unknown>): Promise<DatabaseDown> {
  for (;;) {
    const error: unknown = await work().catch((reason: unknown) => reason)
    if (error instanceof DatabaseDown) return error
  }
}

test('while the database is down, requests are refused without a connection attempt, and succeed after it', async () => {
  await storeService(distant, orgId)
  proxy.cut()
  const { status, retryAfterSecs } = await untilDown(() => distant.listServices(orgId))

  const before = proxy.connections()
  const refused = await Promise.allSettled(
    many(500).map((index) =>
      index % 2 === 0 ? distant.listServices(orgId) : storeService(distant, orgId, { name: 'Refused' }),
    ),
  )
  const asked = proxy.connections() - before
  proxy.restore()
  await untilDone(() => storeService(distant, orgId, { name: 'Later' }))

  expect([status, retryAfterSecs]).toEqual([500, 1])
  expect(refused.every((one) => one.status === 'rejected' && one.reason instanceof DatabaseDown)).toBe(true)
  // Those of the probe.
  expect(asked).toBeLessThan(10)
  expect(await near.listServices(orgId)).toHaveLength(2)
})

test('a database that refuses new connections is an outage: work waits for its end, and readiness needs every kind of connection', async () => {
  const name = new URL(url).pathname.slice(1)
  const allowConnections = (isAllowed: boolean) =>
    withConnection(cluster.url, (client) =>
      client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`),
    )
  await storeService(distant, orgId)

  await allowConnections(false)
  // Writers and readers are connected, and no connection for admission.
  const unready: unknown = await distant.probeWrite(0).catch((error: unknown) => error)
  await withConnection(cluster.url, (client) =>
    client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]),
  )
  const waiting = storeService(near, orgId, { name: 'Later' })
  const { status, retryAfterSecs, cause } = await untilDown(() => distant.listServices(orgId))
  await allowConnections(true)
  await waiting
  await untilDone(() => distant.probeWrite(0))

  expect(unready).toBeInstanceOf(ApiError)
  expect([status, retryAfterSecs, cause]).toEqual([500, 1, expect.any(Error)])
  expect(await near.listServices(orgId)).toHaveLength(2)
})

test('a mutation interrupted by a short outage waits for its end, and is made once', async () => {
  const patient = await openStore(proxy.url, STOPPED_CLOCKS)
  await storeService(patient, orgId)

  proxy.cut()
  const work = many(20).map((index) => storeService(patient, orgId, { name: `Checkout ${index}` }))
  const reading = patient.listServices(orgId)
  setTimeout(() => proxy.restore(), 1_500)
  const made = await Promise.all(work)

  expect(await reading).not.toHaveLength(0)
  await patient.close()
  const stored = (await near.listServices(orgId)).map(({ text }) => text)
  expect(stored.slice(1).toSorted()).toEqual(made.map(({ text }) => text).toSorted())
})

test('a batch whose result stays unknown gets 502, and is not sent again', async () => {
  await storeService(distant, orgId)
  // All of them are in one batch.
  const lost = proxy.loseResponseTo('Unknown 1').then(() => proxy.cut())
  const outcomes = Promise.allSettled(
    many(3).map((index) => storeService(distant, orgId, { name: `Unknown ${index}` })),
  )

  await lost
  const refused = await outcomes
  proxy.restore()
  await untilDone(() => distant.listServices(orgId))

  const codes = refused.map((one) => (one.status === 'rejected' ? one.reason.code : one.value.text))
  expect(codes).toEqual(['bad_gateway', 'bad_gateway', 'bad_gateway'])
  expect(await near.listServices(orgId)).toHaveLength(4)
})

test('connections that go silent are dropped, and do not delay the next requests', async () => {
  await Promise.all(many(10).map(() => distant.listServices(orgId)))
  await storeService(distant, orgId)

  proxy.freeze()
  const silent = await Promise.allSettled([distant.listServices(orgId), storeService(distant, orgId)])
  const stored = await untilDone(() => distant.listServices(orgId))
  const again = await Promise.all(many(20).map(() => distant.listServices(orgId)))

  // Nothing was sent by the mutation but its read.
  expect(silent.map((one) => one.status === 'rejected' && one.reason.status)).toEqual([undefined, undefined])
  expect([stored.length, ...again.map(({ length }) => length)]).toEqual(many(21).map(() => 1))
})

test('requests whose connections are ended by the database server succeed', async () => {
  const endAll = () =>
    withConnection(url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      ),
    )
  const ending = (async () => {
    for (const _ of many(5)) {
      await sleep(100)
      await endAll()
    }
  })()
  let created = 0
  const work = many(4).map(async () => {
    for (let index = 0; index < 60; index += 1) {
      await storeService(near, orgId, { name: 'x' }).then(
        () => (created += 1),
        (error: unknown) => {
          if (!(error instanceof Error) || !('status' in error) || error.status !== 403) throw error
        },
      )
      await near.listServices(orgId)
    }
  })
  await Promise.all([ending, ...work])

  expect(await near.listServices(orgId)).toHaveLength(created)
})

test('a connection of a long list that is ended by the database server ends only that list', async () => {
  await storeService(near, orgId)
  const list = await near.openServices(orgId)

  await withConnection(url, (client) =>
    client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'
      AND datname = current_database()`),
  )
  const read = async () => {
    for await (const piece of list.pieces) void piece
  }
  await expect(read()).rejects.toThrow()
  await list.close()

  expect(await near.listServices(orgId)).toHaveLength(1)
})

test('organisations that wait for locks leave connections for others', async () => {
  const held = await Promise.all(many(12).map(() => storeOrg(near)))

  await withConnection(url, async (client) => {
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM orgs WHERE id = ANY($1::uuid[]) FOR UPDATE', [held])
    const waiting = Promise.allSettled(held.map((each) => storeService(near, each)))
    await sleep(100)
    const key = await near.sharedAdmission?.admit(Buffer.from('unknown'))
    const listed = await near.listServices(orgId)
    const ended = await Promise.race([waiting, Promise.resolve('waiting')])
    await client.query('ROLLBACK')
    expect([key, listed, ended]).toEqual([undefined, [], 'waiting'])
    await waiting
  })
})
