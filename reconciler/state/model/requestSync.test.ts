import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { makeBareRepository } from '../../git/bareRepository.ts'
import { openStore } from '../openStore.ts'
import type { StateStore } from './store.ts'

const REQUEST = { actor: 'webhook at green', at: 't' }
let folder: string
let stores: StateStore[]
beforeEach(() => {
  folder = testFolder()
  makeBareRepository(join(folder, 'state.git'))
  stores = []
})
afterEach(async () => {
  for (const store of stores) await store.close()
})

test.each([
  ['a file', () => join(folder, 'shop.db')],
  ['git', () => `git:${join(folder, 'state.git')}#refs/pharos/shop`],
])(
  'the lease holder takes requests for a sync in %s once, however many there were',
  async (_what, locate) => {
    const opened = async (): Promise<StateStore> => {
      const store = await openStore(locate(), { PATH: process.env.PATH })
      stores.push(store)
      return store
    }
    const leader = await opened()
    await leader.acquire('blue')
    const follower = await opened()
    expect(await leader.takeSyncRequest()).toBe(false)

    for (const _ of [1, 2]) {
      // Requests and renewals come at the same time.
      await Promise.all([follower.requestSync(REQUEST), leader.renew()])
      await follower.requestSync(REQUEST)
      expect([await leader.takeSyncRequest(), await leader.takeSyncRequest()]).toEqual([true, false])
    }
    const after = await opened()
    expect([await after.syncRequests(), await after.approvals()]).toEqual([[], []])
  },
)
