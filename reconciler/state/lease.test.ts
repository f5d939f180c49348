import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeLease } from './lease.ts'
import { openStore } from './openStore.ts'
import type { StateStore } from './store.ts'

let folder: string
let store: StateStore
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-lease-'))
  store = await openStore(join(folder, 'pharos.db'), {})
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

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

test('a lease that could not be renewed counts as lost when another one may take it', async () => {
  const { lease, pass } = await heldLease()

  pass(store.leaseTtlMs - 1)
  expect(lease.isLost()).toBe(false)
  pass(1)
  expect(lease.isLost()).toBe(true)
  await lease.release()
})

test('a renewal counts from when it was sent, because others may have seen it then', async () => {
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

test('a lease counts from when it was asked for, however late the answer is', async () => {
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
