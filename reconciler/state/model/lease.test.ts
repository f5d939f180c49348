import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { openStore } from '../openStore.ts'
import { takeFileLock } from '../sqlite/sqliteLease.ts'
import { takeLease } from './lease.ts'
import type { StateStore } from './store.ts'

let folder: string
let store: StateStore
beforeEach(async () => {
  folder = testFolder()
  store = await openStore(join(folder, 'pharos.db'), {})
})
afterEach(() => store.close())

/** A lease whose time stands still and whose renewals come when they are called for. */
async function heldLease() {
  let nowMs = 0
  let renew = (): void => {}
  let renewed = (): void => {}
  const lease = await takeLease(store, 'test', 0, {
    nowMs: () => nowMs,
    sleep: async () => {},
    every: (_periodMs, run) => {
      renew = run
      return () => {}
    },
    onRenewed: () => renewed(),
  })
  return {
    lease,
    pass: (durationMs: number): void => {
      nowMs += durationMs
    },
    /** Sends a renewal, lets so much time pass while it is on its way, and waits for it. */
    renewal: (durationMs: number): Promise<void> =>
      new Promise((resolve) => {
        renewed = resolve
        renew()
        nowMs += durationMs
      }),
  }
}

test('a lease that could not be renewed counts as lost once another process may take it', async () => {
  const { lease, pass } = await heldLease()

  pass(store.leaseTtlMs - 1)
  expect(lease.isLost()).toBe(false)
  pass(1)
  expect(lease.isLost()).toBe(true)
  await lease.release()
})

test('a holder that acquired the lease while another process probed the lock takes the lock with its next renewal', async () => {
  const file = join(folder, 'pharos.db')
  const next = await openStore(file, {})
  const looking = await takeFileLock(`${file}.lock`)
  await store.acquire('leader')
  looking?.close()

  expect(await next.acquire('follower')).toMatchObject({ heldBy: { holder: 'leader' } })
  await store.renew()

  expect(await takeFileLock(`${file}.lock`)).toBe(undefined)
  expect(await next.acquire('follower')).toMatchObject({ heldBy: { holder: 'leader' } })
  await store.release()
  expect(await next.acquire('follower')).toEqual({ epoch: 2 })
  await next.close()
})

test.each([
  [15_000, 1_000],
  [600_000, 1_000],
  [1_500, 100],
])(
  'a lease of %i ms in a file is checked every %i ms, and taken as soon as it is released',
  async (ttlMs, lookMs) => {
    const next = await openStore(join(folder, 'pharos.db'), {}, { leaseTtlMs: ttlMs })
    await store.acquire('leader')
    const waits: number[] = []

    const lease = await takeLease(next, 'follower', Number.POSITIVE_INFINITY, {
      nowMs: () => 0,
      sleep: async (delayMs) => {
        waits.push(delayMs)
        await store.release()
      },
      every: () => () => {},
    })

    expect([lease.epoch, waits]).toEqual([2, [lookMs]])
    await lease.release()
    await next.close()
  },
)

test('a renewal counts from the time when it was sent, because others may have seen it then', async () => {
  const { lease, pass, renewal } = await heldLease()
  const onItsWayMs = 500

  pass(1_000)
  await renewal(onItsWayMs)
  pass(store.leaseTtlMs - onItsWayMs - 1)
  expect(lease.isLost()).toBe(false)
  pass(1)
  expect(lease.isLost()).toBe(true)
  await lease.release()
})

test('a lease counts from the time of its request, however late the response is', async () => {
  let nowMs = 0
  const taking = takeLease(store, 'test', 0, {
    nowMs: () => nowMs,
    sleep: async () => {},
    every: () => () => {},
  })
  nowMs += store.leaseTtlMs
  const lease = await taking

  expect(lease.isLost()).toBe(true)
  await lease.release()
})
