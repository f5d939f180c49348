import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StateStore } from '../../state/model/store.ts'
import { openStore } from '../../state/openStore.ts'
import { askForLook, wasAskedForLook } from './requestSync.ts'

let folder: string
let stores: StateStore[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-handover-'))
  execFileSync('git', ['init', '--quiet', '--bare', join(folder, 'state.git')])
  stores = []
})
afterEach(async () => {
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['a file', () => join(folder, 'shop.db')],
  ['git', () => `git:${join(folder, 'state.git')}#refs/pharos/shop`],
])(
  'whoever leads hears once of each wish that came into a state in %s, however many there were',
  async (_what, locate) => {
    const opened = async (): Promise<StateStore> => {
      const store = await openStore(locate(), { PATH: process.env.PATH })
      stores.push(store)
      return store
    }
    const leader = await opened()
    await leader.acquire('blue')
    const follower = await opened()
    expect(await wasAskedForLook(leader)).toBe(false)

    for (const _ of [1, 2]) {
      // Wishes and signs of life come at the same time.
      await Promise.all([askForLook(follower, 'webhook at green', 't'), leader.renew()])
      await askForLook(follower, 'webhook at green', 't')
      expect([await wasAskedForLook(leader), await wasAskedForLook(leader)]).toEqual([true, false])
    }
    expect(await (await opened()).approvals()).toEqual([])
  },
)
