import { afterAll, beforeAll, expect, test } from 'vitest'
import { monotonicMs } from '../../../process/systemEnvironment.ts'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { type LossyProxy, startLossyProxy } from '../../../testing/postgres/lossyProxy.ts'
import type { Store } from '../../store.ts'
import { channelTools } from '../../testing/channelSuite.ts'
import { openStore } from '../openStore.ts'
import { withConnection } from '../schema/migrate.ts'

const clocks = { nowMs: () => 0, monotonicMs }
const NOW_MS = 1_000
const SENT = { kind: 'sent' } as const
const RESULT = { status: 204, error: null, durationMs: 5 }

let cluster: Cluster
let url: string
/** As of three processes. */
let stores: readonly [Store, Store, Store]
let proxy: LossyProxy
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createMigrated()
  const open = () => openStore(url, clocks)
  stores = [await open(), await open(), await open()]
  await stores[0].activateMasterKey('first', 0)
  proxy = await startLossyProxy(url)
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await proxy.close()
  await cluster.drop(url)
})

const execute = (sql: string) => withConnection(url, async (client) => void (await client.query(sql)))

/** A new channel with one incident that has an update, and what is due to that channel in a process. */
async function announced() {
  const tools = channelTools(stores[0])
  const orgId = await tools.createOrg()
  const serviceId = await tools.createService(orgId)
  const id = await tools.createChannel(orgId)
  const incident = await tools.incident(orgId, serviceId)
  await tools.update(orgId, incident.id)
  const dueIn = async (store: Store) =>
    (await store.dueDeliveries(NOW_MS, (all) => all.filter(({ channelId }) => channelId === id)))[0]
  return { id, orgId, serviceId, tools, dueIn }
}

test('of three processes, one sends to a channel at a time, and the next one after its record', async () => {
  const { id, dueIn } = await announced()
  const sent: number[] = []

  for (let round = 0; round < 2; round += 1) {
    const found = await Promise.all(stores.map((store) => dueIn(store)))
    expect(found.filter((delivery) => delivery !== undefined)).toHaveLength(1)
    const at = found.findIndex((delivery) => delivery !== undefined)
    const delivery = found[at]
    if (delivery === undefined) throw new Error('nothing was due')
    sent.push(JSON.parse(delivery.body).sequence)
    await stores[at]?.recordAttempt(delivery, RESULT, SENT, NOW_MS)
  }

  expect([sent, await dueIn(stores[0])]).toEqual([[1, 2], undefined])
  expect((await stores[1].listDeliveries({ id }, { countMax: 9 })).map(({ attempts }) => attempts)).toEqual([
    1, 1,
  ])
})

test('a process that stops releases its channels at once, and a killed one when its lease expires', async () => {
  const { id, dueIn } = await announced()
  const stopping = await openStore(url, clocks)
  const taken = await dueIn(stopping)
  const meanwhile = await dueIn(stores[0])
  await stopping.close()
  const afterStop = await dueIn(stores[0])
  const before = await dueIn(stores[1])
  await execute(`UPDATE channel_turns SET until = clock_timestamp() WHERE channel_id = '${id}'`)

  expect([taken?.attempt, meanwhile, afterStop?.attempt, before]).toEqual([1, undefined, 1, undefined])
  expect((await dueIn(stores[1]))?.webhookId).toBe(taken?.webhookId)
})

test('an attempt that two processes made, because a lease expired, is recorded once', async () => {
  const { id, dueIn } = await announced()
  const late = await dueIn(stores[0])
  await execute(`UPDATE channel_turns SET until = clock_timestamp() WHERE channel_id = '${id}'`)
  const second = await dueIn(stores[1])
  if (late === undefined || second === undefined) throw new Error('nothing was due')

  await stores[0].recordAttempt(late, RESULT, SENT, NOW_MS)
  const whileTheOtherSends = await dueIn(stores[2])
  await stores[1].recordAttempt(second, RESULT, { kind: 'failed' }, NOW_MS)

  const [newer, older] = await stores[2].listDeliveries({ id }, { countMax: 9 })
  expect([older?.state, older?.attempts, newer?.state]).toEqual(['sent', 1, 'waiting'])
  // The late record does not end the turn of the other.
  expect([whileTheOtherSends, (await dueIn(stores[2]))?.attempt]).toEqual([undefined, 1])
})

test('a record whose response was lost is not written twice', async () => {
  const { id, dueIn } = await announced()
  const distant = await openStore(proxy.url, clocks)
  const delivery = await dueIn(distant)
  if (delivery === undefined) throw new Error('nothing was due')

  const lost = proxy.loseResponseTo('COMMIT')
  await expect(distant.recordAttempt(delivery, RESULT, SENT, NOW_MS)).rejects.toThrow()
  await lost
  await distant.recordAttempt(delivery, RESULT, SENT, NOW_MS)
  await distant.close()

  const [, older] = await stores[0].listDeliveries({ id }, { countMax: 9 })
  expect([older?.state, older?.attempts]).toEqual(['sent', 1])
  expect((await stores[0].getDelivery({ id }, delivery.webhookId)).attempts).toHaveLength(1)
})

test('incidents while another process disables and enables a channel leave no delivery waiting for a disabled one', async () => {
  const { id, orgId, serviceId, tools } = await announced()
  const set = async (state: 'active' | 'disabled') => stores[1].setChannelState({ id }, state, 0)

  for (let round = 0; round < 5; round += 1) {
    await Promise.all([tools.incident(orgId, serviceId), set('disabled'), tools.incident(orgId, serviceId)])
    const waiting = await stores[2].listDeliveries({ id }, { state: 'waiting', countMax: 99 })
    expect(waiting).toEqual([])
    await set('active')
  }
})
