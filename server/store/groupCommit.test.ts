import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from './openStore.ts'
import type { Store } from './store.ts'

let folder: string
let store: Store

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pharos-commit-'))
  store = await openStore(folder, () => 0)
})

afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

/** Turns of the event loop that are few: a turn takes many milliseconds while others compute. */
const FEW_TURNS = 10

test('a commit waits for few turns of the event loop, although each of them brings more', async () => {
  let made = 0
  const create = () => {
    made += 1
    return store.createOrg({ id: `org${made}`, name: 'Acme', plan: 'business', nowMs: 0 })
  }
  let isDurable = false
  const first = create().then(() => {
    isDurable = true
  })

  const others: Promise<void>[] = []
  while (!isDurable) {
    others.push(create())
    await setImmediate()
  }

  expect(others.length).toBeLessThan(FEW_TURNS)
  await Promise.all([first, ...others])
})
