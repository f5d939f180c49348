import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { ApplyWorld, setOf } from '../testing/applyWorld.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../testing/faultProxy.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { stateInGit } from '../testing/modelStates.ts'
import { IN_FLIGHT } from './execute.ts'

let server: TestServer
let proxy: FaultProxy
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  proxy = await startFaultProxy(server.url)
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})

/** A world in an organisation of its own, whose first creation meets `fault`; `before` precedes the others. */
async function withLostCreation(
  fault: Fault,
  tell: (world: ApplyWorld) => Promise<void>,
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const orgId = await server.createOrg({ plan: 'business' })
  const world = new ApplyWorld(proxy, await server.createKey({ orgId }), orgId)
  let creations = 0
  proxy.decide = async (method) => {
    if (method !== 'POST') return 'pass'
    creations += 1
    if (creations === 1) return fault
    await before()
    return 'pass'
  }
  try {
    await tell(world)
    expect(await world.openIntents()).toEqual([])
  } finally {
    proxy.decide = () => 'pass'
    proxy.refusesWith = () => undefined
    await proxy.land()
    await world.close()
  }
}

const one = setOf([manifestOf('a')])
const changed = setOf([manifestOf('a').replace('60s', '90s')])
const created = { outcomes: [{ result: 'done' }], blocked: [] }

test('a creation that arrives after the grace, when it was sent again, is executed once', () =>
  withLostCreation('late', async (world) => {
    world.atEndOfGrace = async () => {}

    expect(await world.apply(one)).toMatchObject(created)
    await proxy.land()
    expect(await world.live()).toEqual(['a 60'])
  }))

test.each([
  ['before', () => proxy.land()],
  ['after', async () => {}],
])(
  'a lost creation that arrives %s its changed manifest is sent is executed once, and ends as the manifest says',
  (_, before) =>
    withLostCreation(
      'late',
      async (world) => {
        world.atEndOfGrace = async () => {}
        // The process dies before it sends the creation again.
        expect(await world.apply(one, 2)).toBe('crashed')

        expect(await world.apply(changed)).toMatchObject(created)
        await proxy.land()
        expect(await world.live()).toEqual(['a 90'])
      },
      before,
    ),
)

test('a lost creation whose service was deleted meanwhile is executed again', () =>
  withLostCreation('lose', async (world) => {
    world.atEndOfGrace = async () => {
      for (const { id } of (await world.client.listServices()).services) await world.client.deleteService(id)
    }

    expect(await world.apply(one)).toMatchObject(created)
    expect(await world.live()).toEqual(['a 60'])
  }))

test('a run waits again while the server executes an earlier attempt of a creation (409)', () =>
  withLostCreation('late', async (world) => {
    let creations = 0
    proxy.refusesWith = () => {
      creations += 1
      return creations === 2 ? { status: 409, error: 'in progress' } : undefined
    }
    world.atEndOfGrace = async () => (creations < 2 ? undefined : proxy.land())

    expect(await world.apply(one)).toMatchObject(created)
    await proxy.land()
    expect(await world.live()).toEqual(['a 60'])
  }))

test('a lost creation is executed once although the next run leaves its service out', () =>
  withLostCreation('late', async (world) => {
    world.atEndOfGrace = async () => {}
    expect(await world.apply(one, 2)).toBe('crashed')
    world.nowMs += 60_000
    const both = setOf([manifestOf('a'), manifestOf('b')])
    await world.apply(both, undefined, (key) => key === 'b')

    await world.apply(both)
    await proxy.land()
    expect(await world.live()).toEqual(['a 60', 'b 60'])
  }))

test('a run waits for a lost creation for no longer than the grace when the clock is set back', () =>
  withLostCreation('drop', async (world) => {
    const { decide } = proxy
    proxy.decide = (method, path) => {
      world.nowMs -= 3_600_000
      proxy.decide = decide
      return decide(method, path)
    }

    expect(await world.apply(one)).toMatchObject(created)
    expect([await world.live(), world.waitedMs]).toEqual([['a 60'], 60_000])
  }))

test('with a state in git, which records all creations when a run begins, the grace follows the loss of a response', () =>
  withLostCreation('pass', async (world) => {
    world.open = stateInGit(world)
    const keys = Array.from({ length: IN_FLIGHT + 1 }, (_, index) => `s${index}`)
    let creations = 0
    proxy.decide = () => {
      creations += 1
      if (creations === keys.length) return 'drop'
      world.nowMs += 20_000
      return 'pass'
    }

    expect(await world.apply(setOf(keys.map((key) => manifestOf(key))))).toMatchObject({ blocked: [] })
    expect([await world.live(), world.waitedMs]).toEqual([keys.map((key) => `${key} 60`), 60_000])
  }))
