import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import { readStore } from '../state/openStore.ts'
import { controllerScene, manifestFiles } from '../testing/controllerScene.ts'
import { startFaultProxy } from '../testing/faultProxy.ts'
import type { TestController } from '../testing/testController.ts'

const { controllerOf, server, names } = controllerScene(startServer)

const MINUTE_MS = 60_000
/** Longest time between two looks at a lease in a file. */
const LOOK_MS = 1_000
/** Requests that a replica has in flight at most. */
const IN_FLIGHT = 6
/** An interval that explains nothing here. */
const RARELY = '    interval: 24h\n'

/** Two replicas on one state: blue leads, green follows. */
async function pair(url = server().url, leaseTtl = '15s'): Promise<readonly TestController[]> {
  const home = await controllerOf()
  const shared = { url, more: RARELY, leaseTtl, repository: home.repository, folder: home.folder }
  home.repository.commit(manifestFiles('first'))
  const blue = await controllerOf(shared)
  blue.start()
  await blue.nextCycle()
  const green = await controllerOf({ ...shared, replica: 'green', clock: blue.clock })
  green.start()
  await green.until(() => green.shop().role === 'follower')
  return [blue, green]
}

test('a stopped leader releases its lease before it exits, and the follower takes it at its next check', async () => {
  const [blue, green] = await pair(undefined, '10m')
  if (blue === undefined || green === undefined) throw new Error('there are no two')

  blue.controller.stop()
  const state = await readStore(join(green.folder, 'shop.db'), {})
  await blue.until(async () => (await state.lease()) === null, 0)
  await state.close()

  await green.until(() => green.shop().role === 'leader', LOOK_MS)
  expect(green.events.at(-1)).toMatchObject({ type: 'LeaseTaken' })
})

test('a push that reaches a follower is applied by the leader', async () => {
  const [blue, green] = await pair()
  if (blue === undefined || green === undefined) throw new Error('there are no two')
  blue.repository.commit(manifestFiles('a'))

  expect(await green.push()).toBe(202)
  await blue.until(async () => (await names()).includes('a'), 20 * MINUTE_MS)
  await blue.until(() => blue.shop().running === null)
  expect(blue.shop().lastRun).toMatchObject({ trigger: 'webhook', outcome: 'converged' })

  // And the next one as well.
  blue.repository.commit(manifestFiles('b'))
  expect(await green.api('/api/sets/shop/run')).toEqual([202, { set: 'shop', queued: true }])
  await blue.until(async () => (await names()).includes('b'), 20 * MINUTE_MS)
  expect(green.shop().role).toBe('follower')
})

test('a suspension through a follower stops the run of the leader', async () => {
  const proxy = await startFaultProxy(server().url)
  const [blue, green] = await pair(proxy.url)
  if (blue === undefined || green === undefined) throw new Error('there are no two')
  const keys = Array.from({ length: 14 }, (_, index) => `s${index}`)
  blue.repository.commit(manifestFiles(...keys))
  let isHeard: Promise<void> | undefined
  const suspended = async (): Promise<void> => {
    await green.api('/api/sets/shop/suspend', { reason: 'release', actor: 'ada' })
    await blue.until(() => blue.shop().running?.stopReason === 'suspended', 20 * MINUTE_MS)
  }
  // Everything that is in flight stays there until the run knows.
  proxy.decide = async () => {
    isHeard ??= suspended()
    await isHeard
    return 'pass' as const
  }
  await blue.push()
  await blue.until(() => blue.shop().lastRun?.outcome === 'interrupted', 20 * MINUTE_MS)

  expect((await names()).length).toBeLessThanOrEqual(1 + IN_FLIGHT)
  await proxy.close()
})

test('a follower shows the suspensions that the state has now', async () => {
  const [blue, green] = await pair()
  if (blue === undefined || green === undefined) throw new Error('there are no two')

  await blue.api('/api/sets/shop/suspend', { reason: 'release', actor: 'ada' })
  await green.until(() => green.shop().suspensions.length === 1)
  await blue.api('/api/sets/shop/resume', { actor: 'ada' })
  await green.until(() => green.shop().suspensions.length === 0)

  expect(green.shop().role).toBe('follower')
})

test('a follower names the leader for requests that only the leader can serve', async () => {
  const [, green] = await pair()
  const there = { error: 'replica blue leads the set shop: send the request there' }

  expect(await green?.api('/api/approve/0123456789abcdef')).toEqual([409, there])
  expect(await green?.api('/api/sets/shop/acknowledge-history')).toEqual([409, there])
})
