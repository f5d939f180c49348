import { expect, test } from 'vitest'
import { systemEnvironment } from '../../../process/systemEnvironment.ts'
import { sharedCluster } from '../../../testing/postgres/cluster.ts'
import { openPools } from '../connections/pools.ts'
import type { Sql } from '../connections/sql.ts'
import { openStore } from '../openStore.ts'
import { sharedAdmission } from './sharedAdmission.ts'

test('three processes share one bucket for a key, even when the clock is set back', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createMigrated()
  let nowMs = 10_000_000
  const clock = () => nowMs
  let runMs = 0
  const clocks = { nowMs: clock, monotonicMs: () => runMs, bucketsMs: clock }
  const pass = (ms: number) => {
    nowMs += ms
    runMs += Math.max(ms, 0)
  }
  const stores = await Promise.all([1, 2, 3].map(() => openStore(url, clocks)))
  const [orgId, hash] = [systemEnvironment.uuid(), Buffer.from('key')]
  await stores[0]?.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs })
  await stores[0]?.createKey({
    ...{ id: systemEnvironment.uuid(), orgId, scope: 'read_write', hash, last4: '0000', nowMs },
    ...{ createdBy: null, note: null, by: { kind: 'cli' } },
  })
  /** Requests granted of three times as many as `count`. */
  const grantedOf = async (count: number) => {
    const admitted = await Promise.all(
      Array.from({ length: count }, () => stores.map((store) => store.sharedAdmission?.admit(hash))).flat(),
    )
    return admitted.filter((one) => one?.allowance.isAllowed === true).length
  }

  const burst = await grantedOf(20)
  pass(199)
  const early = await grantedOf(1)
  pass(1)
  const next = await grantedOf(1)
  pass(4_000)
  const full = await grantedOf(20)
  pass(200)
  nowMs -= 60 * 60 * 1_000
  const setBack = await grantedOf(1)
  pass(400)
  const later = await grantedOf(1)

  expect([burst, early, next, full, setBack, later]).toEqual([20, 0, 1, 20, 1, 2])
  expect(await stores[0]?.sharedAdmission?.admit(Buffer.from('unknown'))).toBeUndefined()
  await Promise.all(stores.map((store) => store.close()))
  await cluster.drop(url)
})

test('of simultaneous requests of an exhausted key, one asks the database', async () => {
  const cluster = await sharedCluster()
  const url = await cluster.createMigrated()
  let runMs = 10_000_000
  const clock = () => runMs
  const clocks = { nowMs: clock, monotonicMs: clock, bucketsMs: clock }
  const store = await openStore(url, clocks)
  const [orgId, hash] = [systemEnvironment.uuid(), Buffer.from('key')]
  await store.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs: runMs })
  await store.createKey({
    ...{ id: systemEnvironment.uuid(), orgId, scope: 'read_write', hash, last4: '0000', nowMs: runMs },
    ...{ createdBy: null, note: null, by: { kind: 'cli' } },
  })
  const pools = openPools(url, clock)
  let statements = 0
  const counting: Sql = {
    rows: (text, values) => {
      statements += 1
      return pools.admission.rows(text, values)
    },
  }
  const admission = sharedAdmission(counting, clocks)
  /** Requests granted of 50 at once, and statements for them. */
  const flood = async () => {
    statements = 0
    const admitted = await Promise.all(Array.from({ length: 50 }, () => admission.admit(hash)))
    return [admitted.filter((one) => one?.allowance.isAllowed === true).length, statements]
  }

  const [burst] = await flood()
  const refused = await flood()
  runMs += 200
  const earned = await flood()
  // Another process takes the next one.
  runMs += 200
  await store.sharedAdmission?.admit(hash)
  const taken = await flood()

  expect([burst, refused, earned, taken]).toEqual([20, [0, 0], [1, 1], [0, 1]])
  await pools.close()
  await store.close()
  await cluster.drop(url)
})
