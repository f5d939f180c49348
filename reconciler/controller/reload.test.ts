import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer } from '../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../testing/controllerScene.ts'
import { startFaultProxy } from '../testing/faultProxy.ts'
import { manifestOf } from '../testing/pharosProgram.ts'
import type { TestController } from '../testing/testController.ts'
import type { SetStatus } from './status/status.ts'

const { controllerOf, names, intervals, changeInterval, server } = controllerScene(startServer)

function setOf(one: TestController, name: string): SetStatus | undefined {
  return one.controller.status().sets.find((set) => set.name === name)
}

function nextSet(one: TestController, more = ''): string {
  return `  - name: next\n    repository: {url: "${one.repository.url}", path: other, allowFile: true}\n    leaseTtl: 10m\n${more}`
}

test('sets are added, changed and taken out while the others go on, and none forgets what it has', async () => {
  const one = await controllerOf()
  one.repository.commit({ ...manifestFiles('a'), 'other/b.yaml': manifestOf('b') })
  one.start()
  await one.nextCycle()
  const { lastRun } = one.shop()

  expect(await one.reload(nextSet(one))).toEqual({ added: ['next'], changed: [], removed: [] })
  await one.until(() => setOf(one, 'next')?.headline === 'Ready')
  expect(await names()).toEqual(['a', 'b'])
  expect(one.events.filter(({ type, set }) => type === 'LeaseTaken' && set === 'shop')).toHaveLength(1)
  expect(one.shop().lastRun?.runId === lastRun?.runId || one.shop().lastRun?.counts.created === 0).toBe(true)

  const changed = `    drift: report\n${nextSet(one)}`
  expect(await one.reload(changed)).toEqual({ added: [], changed: ['shop'], removed: [] })
  await changeInterval('a', 300)
  await one.until(() => one.shop().headline === 'Drifted')
  expect(one.shop().services.map(({ key, state }) => [key, state])).toEqual([['a', 'Drifted']])

  expect(await one.reload('    drift: report\n')).toEqual({ added: [], changed: [], removed: ['next'] })
  expect(one.controller.status().sets.map(({ name }) => name)).toEqual(['shop'])
  const metrics = await (await fetch(`${one.controller.url()}/metrics`)).text()
  expect(metrics).not.toContain('pharos_last_success_timestamp_seconds{set="next"}')
  expect(await one.reload(nextSet(one))).toEqual({ added: ['next'], changed: ['shop'], removed: [] })
  await one.until(() => setOf(one, 'next')?.headline === 'Ready' && one.shop().headline === 'Ready')
  expect(await intervals()).toEqual({ a: 60, b: 60 })
})

test('the operation that is in flight when a set changes ends first, and the next run goes on from there', async () => {
  const proxy = await startFaultProxy(server().url)
  const one = await controllerOf({ url: proxy.url })
  one.repository.commit(manifestFiles('a', 'b', 'c'))
  let reloading: Promise<unknown> | undefined
  proxy.decide = () => {
    reloading ??= one.reload('    interval: 5m\n')
    return 'pass'
  }
  one.start()
  await one.until(() => one.shop().headline === 'Ready')
  await reloading

  expect(await names()).toEqual(['a', 'b', 'c'])
  expect(one.events.filter(({ type }) => type === 'RunFailed' || type === 'ServiceFailed')).toEqual([])
  await proxy.close()
})

test('settings that cannot be opened leave everything as it was', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()

  const taken = join(one.folder, 'shop.db')
  await expect(one.reload(nextSet(one, `    state: ${taken}/next.db\n`))).rejects.toThrow(taken)

  expect(one.controller.status().sets.map(({ name }) => name)).toEqual(['shop'])
  expect(await one.nextCycle()).toMatchObject({ headline: 'Ready' })
})

test('a controller that is stopped while it reads its configuration again ends', async () => {
  const one = await controllerOf()
  one.repository.commit(manifestFiles('a'))
  one.start()
  await one.nextCycle()
  const reloading = one.reload(nextSet(one))
  one.controller.stop()

  expect(await reloading).toMatchObject({ added: ['next'] })
  await one.until(() => one.controller.status().sets.every(({ role }) => role === 'starting'))
  expect(await names()).toEqual(['a'])
})
