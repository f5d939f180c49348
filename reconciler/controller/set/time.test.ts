import { expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { fakeClock } from '../../testing/fakeClock.ts'
import { startFaultProxy } from '../../testing/faultProxy.ts'
import { manifestOf } from '../../testing/manifestOf.ts'

const { controllerOf, server, services, names, intervals, changeInterval } = controllerScene(startServer)

const HOUR_MS = 3_600_000
/** Wednesday, 17:59 in Berlin, a minute before the window closes. */
const BEFORE_CLOSING = Date.parse('2026-01-14T16:59:00Z')
const OFFICE =
  '    windows: [{kind: allow, schedule: "0 9 * * 1-5", duration: 9h, timeZone: Europe/Berlin}]\n'

test('Scenario 46: a jump of the wall clock neither hastens nor delays a run, and does not lose the lease', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  for (const jumpMs of [HOUR_MS, -2 * HOUR_MS, 365 * 24 * HOUR_MS, -730 * 24 * HOUR_MS]) {
    const startedAtMs = one.clock.nowMs()
    one.clock.setWall(one.clock.wallMs() + jumpMs)
    await changeInterval('a', 300)

    expect(await one.nextCycle()).toMatchObject({
      lastRun: { trigger: 'interval', counts: { updated: 1 } },
      role: 'leader',
    })
    const tookMs = one.clock.nowMs() - startedAtMs
    expect([tookMs >= 54_000, tookMs <= 70_000]).toEqual([true, true])
  }
  expect(one.events.filter(({ type }) => type === 'LeaseLost')).toEqual([])
})

test('Scenario 47: a leader that was suspended for longer than its lease writes nothing more', async () => {
  const blue = await controllerOf()
  blue.repository.commit(manifestFiles('a'))
  blue.start()
  await blue.nextCycle()
  const green = await controllerOf({
    repository: blue.repository,
    folder: blue.folder,
    replica: 'green',
    clock: fakeClock(),
  })
  green.start()
  await green.until(() => green.shop().role === 'leader', 20 * 60_000)
  expect(green.events.find(({ type }) => type === 'LeaseTaken')?.message).toContain('epoch 2')

  await green.nextCycle()
  blue.repository.commit(manifestFiles('b'))
  await blue.until(() => blue.events.some(({ type }) => type === 'LeaseLost'))
  expect(await names()).toEqual(['a'])
  // What it found as the leader is no longer current.
  expect(blue.shop()).toMatchObject({
    headline: 'Following',
    leaseHolder: 'replica green',
    commit: null,
    appliedCommit: null,
    lastRun: null,
    services: [],
    counts: { Synced: 0 },
  })
  await green.nextCycle()
  expect(await names()).toEqual(['a', 'b'])
})

test('Scenario 49: outside its window a set only plans, and it applies as soon as the window opens', async () => {
  const one = await controllerOf({ more: OFFICE, clock: fakeClock(Date.parse('2026-01-14T07:59:30Z')) })
  one.repository.commit(manifestFiles('a'))
  one.start()

  expect(await one.nextCycle()).toMatchObject({
    headline: 'WindowClosed',
    window: { isOpen: false, changesAt: '2026-01-14T08:00:00.000Z' },
    services: [{ key: 'a', state: 'Pending' }],
  })
  expect(await names()).toEqual([])
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready', window: { isOpen: true } })
  expect([await names(), one.clock.wallMs() < Date.parse('2026-01-14T08:00:10Z')]).toEqual([['a'], true])
})

test.each([
  [true, 14],
  [false, 6],
])(
  'Scenario 49: with overrun: %s a run whose window closes makes at most %d changes',
  async (overrun, most) => {
    const proxy = await startFaultProxy(server().url)
    const one = await controllerOf({
      url: proxy.url,
      more: `${OFFICE}    overrun: ${overrun}\n`,
      clock: fakeClock(BEFORE_CLOSING),
    })
    const keys = Array.from({ length: 14 }, (_, index) => `s${index}`)
    one.repository.commit(manifestFiles(...keys))
    proxy.afterEffect = () => one.clock.setWall(BEFORE_CLOSING + 2 * 60_000)
    one.start()

    const status = await one.nextCycle()

    const made = (await names()).length
    expect([made > 0, made <= most, made === 14]).toEqual([true, true, overrun])
    expect(status.window.isOpen).toBe(false)
    await proxy.close()
  },
)

test('Scenario 49: a set that is suspended during a run stops between two operations', async () => {
  const proxy = await startFaultProxy(server().url)
  const one = await controllerOf({ url: proxy.url })
  const keys = Array.from({ length: 14 }, (_, index) => `s${index}`)
  one.repository.commit(manifestFiles(...keys))
  let isSuspended: Promise<unknown> | undefined
  proxy.decide = async () => {
    isSuspended ??= one.api('/api/sets/shop/suspend', { reason: 'stop', for: '2h' })
    await isSuspended
    return 'pass' as const
  }
  one.start()

  expect(await one.nextCycle()).toMatchObject({ headline: 'Suspended', lastRun: { outcome: 'interrupted' } })
  expect((await names()).length).toBeLessThanOrEqual(6)
  one.clock.advance(2 * HOUR_MS)
  await one.until(() => one.shop().headline === 'Ready')
  expect(await names()).toHaveLength(14)
  await proxy.close()
})

test('Scenario 48: a field that another tool changes repeatedly is reported and no longer reverted', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  for (let round = 1; round <= 3; round += 1) {
    await changeInterval('a', 300)
    expect(await one.nextCycle()).toMatchObject({ lastRun: { counts: { updated: 1 } } })
  }
  await changeInterval('a', 300)

  expect(await one.nextCycle()).toMatchObject({
    headline: 'HealLoop',
    services: [{ key: 'a', state: 'Drifted' }],
  })
  expect(await intervals()).toEqual({ a: 300 })
})

test('Scenario 48: a service named by two sets belongs to the first, and the second reports it', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const [service] = await services()
  one.controller.stop()
  await one.until(() => one.shop().role === 'starting')
  const taken = manifestOf('b').replace('{name: b}', `{name: b, id: ${service?.id}}`)
  one.repository.commit({ 'other/b.yaml': taken })
  const next = `  - name: next\n    repository: {url: "${one.repository.url}", path: other, allowFile: true}\n`
  const two = await controllerOf({ repository: one.repository, folder: one.folder, more: next })
  two.start()

  const second = () => two.controller.status().sets.find(({ name }) => name === 'next')
  await two.until(() => second()?.lastRun != null)

  expect(second()?.services).toMatchObject([
    {
      key: 'b',
      state: 'Pending',
      message: `service ${service?.id} belongs to the set shop: keep its id in one of the two`,
    },
  ])
  expect(await names()).toEqual(['a'])
})

test('a suspension without an end is reported again every day', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  await one.api('/api/sets/shop/suspend', { reason: 'release', actor: 'ada' })
  await one.nextCycle()
  const reminders = () => one.events.filter(({ type }) => type === 'SuspensionReminder').length

  expect(reminders()).toBe(0)
  for (const _day of [1, 2]) {
    one.clock.advance(24 * HOUR_MS)
    await one.nextCycle()
    await one.nextCycle()
  }
  expect(reminders()).toBe(2)
})
