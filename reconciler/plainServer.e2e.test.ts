import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isTorture } from '../scripts/testing/torture.ts'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { manifestOf } from './testing/manifestOf.ts'

describe('on a server that implements only the API document', async () => {
  // What recovers from crashes and lost responses, once more; the torture has the scenarios too. Files that are read
  // for themselves are read anew, before and after.
  beforeAll(() => void vi.stubEnv('PHAROS_TEST_PLAIN', 'yes'))
  afterAll(() => {
    vi.unstubAllEnvs()
    // Not earlier: what programs load late has to be of the same copy.
    vi.resetModules()
  })
  vi.resetModules()
  await import('./apply/crash.test.ts')
  if (isTorture) await import('./scenarios.e2e.test.ts')

  describe('pharos', () => {
    const { changeInterval, intervals, json, work } = new CommandScene(startServer)

    test('applies, finds a manual change, reverts it, and deletes', async () => {
      work.write({ 'a.yaml': manifestOf('a'), 'b.yaml': manifestOf('b', '  paused: true\n') })
      const created = await json('apply')
      await changeInterval('a', 300)
      const drift = await json('drift')
      const healed = await json('apply')
      work.write({ 'b.yaml': null })
      const deleted = await json('apply')

      expect([created.applied.created, drift.exit, healed.applied.updated]).toEqual([2, 2, 1])
      expect([deleted.applied.removed, await intervals()]).toEqual([1, { a: 60 }])
      expect(await json('plan')).toMatchObject({ exit: 0, unchanged: ['a'] })
    })
  })
})
