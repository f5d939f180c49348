import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cases } from '../../scripts/testing/torture.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { ApplyWorld, setOf } from '../testing/applyWorld.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../testing/faultProxy.ts'
import { manifestOf } from '../testing/manifestOf.ts'

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

const before = setOf([
  manifestOf('changed'),
  manifestOf('rested', '  paused: false\n'),
  manifestOf('woken', '  paused: true\n'),
  manifestOf('removed'),
])
const after = setOf([
  manifestOf('changed').replace('60s', '90s'),
  manifestOf('rested', '  paused: true\n').replace('60s', '90s'),
  manifestOf('woken', '  paused: false\n').replace('60s', '90s'),
  manifestOf('new'),
  manifestOf('asleep', '  paused: true\n'),
])
const wanted = ['asleep 60 paused', 'changed 90', 'new 60', 'rested 90 paused', 'woken 90']

/** Whole story: apply, change, apply with faults and a crash, then apply until it holds. */
async function converges(
  crashAt: number,
  faults: { readonly ofCreations: readonly Fault[]; readonly ofOthers: readonly Fault[] },
): Promise<boolean> {
  const orgId = await server.createOrg({ plan: 'business' })
  const world = new ApplyWorld(proxy, await server.createKey({ orgId }), orgId)
  try {
    proxy.decide = () => 'pass'
    await world.apply(before)
    const ofCreations = [...faults.ofCreations]
    const ofOthers = [...faults.ofOthers]
    proxy.decide = (_method, path) => (path === '/v1/services' ? ofCreations : ofOthers).shift() ?? 'pass'
    const crashed = await world.apply(after, crashAt).then((applied) => applied === 'crashed')
    proxy.decide = () => 'pass'
    await world.apply(after)

    // Nothing may be on its way any more that could still land.
    await proxy.land()
    expect(await world.live()).toEqual(wanted)
    expect(await world.openIntents()).toEqual([])
    const last = await world.apply(after)
    expect(last).toMatchObject({ outcomes: [], blocked: [] })
    return crashed
  } finally {
    await proxy.land()
    await world.close()
  }
}

test('Scenario 35: a run that dies between any request and its record is repaired by the next run', async () => {
  let crashAt = 1
  while (await converges(crashAt, { ofCreations: [], ofOthers: [] })) crashAt += 1
  // Eight requests, each with its intent and its outcome.
  expect(crashAt).toBeGreaterThan(16)
})

test('Scenario 36: no network fault and no crash duplicates, loses or leaves behind anything', async () => {
  const fault = fc.constantFrom<Fault>('pass', 'drop', 'lose', 'late', 'bad-gateway', 'internal', 'truncate')
  const faults = fc.record({
    ofCreations: fc.array(fault, { minLength: 2, maxLength: 4 }),
    ofOthers: fc.array(fault, { maxLength: 6 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), faults, async (crashAt, some) => {
      await converges(crashAt, some)
    }),
    { numRuns: cases(10, 35) },
  )
}, 120_000)
