import { afterEach, beforeEach, expect, test } from 'vitest'
import { startServer } from '../../../server/testing/startServer.ts'
import { controllerScene, manifestFiles } from '../../testing/controllerScene.ts'
import { type FaultProxy, startFaultProxy } from '../../testing/faultProxy.ts'

const { controllerOf, server, services } = controllerScene(startServer)

let proxy: FaultProxy
beforeEach(async () => {
  proxy = await startFaultProxy(server().url)
})
afterEach(() => proxy.close())

test('an API that always responds with 429 makes a set Throttled, hides old approvals and bounds its cycles, until the set recovers', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e']
  const one = await controllerOf({ url: proxy.url, more: '    timeout: 30s\n' })
  one.repository.commit(manifestFiles(...keys))
  one.start()
  await one.nextCycle()
  one.repository.commit(Object.fromEntries(keys.slice(1).map((key) => [`monitoring/${key}.yaml`, null])))
  await one.push()
  await one.nextCycle()
  expect(one.shop()).toMatchObject({ headline: 'ApprovalRequired', approvals: [{ brakes: [{}] }] })

  proxy.throttles = true
  await one.until(() => one.shop().headline === 'Throttled')
  expect(one.shop().approvals).toEqual([])
  expect(one.shop().conditions.map(({ type }) => type)).not.toContain('ApprovalRequired')
  expect(one.shop().conditions[0]).toMatchObject({
    message: expect.stringMatching(/^waiting for the API since .*Z: the API responded with 429/),
    since: expect.any(String),
  })
  const metrics = await (await fetch(`${one.controller.url}/metrics`)).text()
  expect(metrics).toContain('pharos_condition{set="shop",condition="Throttled"} 1')

  await one.until(() => one.shop().lastRun?.outcome === 'failed')
  expect(one.shop().headline).toBe('Throttled')
  expect(one.events.filter(({ condition }) => condition === 'Throttled').length).toBeGreaterThan(0)

  proxy.throttles = false
  await one.until(() => one.shop().headline === 'ApprovalRequired')
  expect(await services()).toHaveLength(keys.length)
})
