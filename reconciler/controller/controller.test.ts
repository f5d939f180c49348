import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { manifestOf } from '../testing/pharosProgram.ts'
import { type TestController, type TestControllerOptions, testController } from '../testing/testController.ts'

let server: TestServer
let apiKey: string
let client: Client
let controllers: TestController[]
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
})
afterAll(() => server.close())
beforeEach(async () => {
  const orgId = await server.createOrg({ plan: 'business' })
  apiKey = await server.createKey({ orgId })
  client = new Client({ url: server.url, apiKey: await server.createKey({ orgId }), userAgent: 'test' })
  controllers = []
})
afterEach(async () => {
  for (const one of controllers) await one.close()
  await client.close()
})

async function controllerOf(options: Partial<TestControllerOptions> = {}): Promise<TestController> {
  const made = await testController({ url: server.url, apiKey, ...options })
  controllers.push(made)
  return made
}

async function names(): Promise<readonly string[]> {
  const { services } = await client.listServices()
  return services.map(({ name }) => name).sort()
}

async function changeInterval(name: string, intervalSecs: number): Promise<void> {
  const { services } = await client.listServices()
  const service = services.find((one) => one.name === name)
  if (service === undefined) throw new Error(`there is no ${name}`)
  await client.replaceService(service.id, {
    name,
    regions: service.regions,
    interval_secs: intervalSecs,
    endpoints: [
      {
        url: `https://${name}.example.com/`,
        call: { Http: { method: 'GET', timeout: null } },
        assertions: [],
      },
    ],
  })
}

async function intervals(): Promise<Readonly<Record<string, number>>> {
  const { services } = await client.listServices()
  return Object.fromEntries(services.map(({ name, interval_secs }) => [name, interval_secs]))
}

function files(...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [`monitoring/${key}.yaml`, manifestOf(key)]))
}

test('what is pushed is applied after the webhook, and a cycle without anything to do costs one request', async () => {
  const one = await controllerOf()
  one.repository.commit(files('a'))
  one.start()
  expect(await one.nextCycle()).toMatchObject({
    headline: 'Ready',
    lastRun: { trigger: 'start', outcome: 'converged', counts: { created: 1 } },
  })
  expect(await one.nextCycle()).toMatchObject({
    lastRun: { trigger: 'interval', requests: 1, counts: { unchanged: 1 } },
  })

  const sha = one.repository.commit(files('b'))
  expect(await one.push()).toBe(202)
  expect(await one.nextCycle()).toMatchObject({
    appliedCommit: sha,
    commit: { sha },
    lastRun: { trigger: 'webhook', outcome: 'converged' },
  })
  expect(await names()).toEqual(['a', 'b'])
})

test('a change by hand is put back within one interval, and said field by field', async () => {
  const one = await controllerOf()
  one.repository.commit(files('a', 'b'))
  one.start()
  await one.nextCycle()
  await changeInterval('a', 300)

  const startedAtMs = one.clock.nowMs()
  expect(await one.nextCycle()).toMatchObject({
    headline: 'Ready',
    lastRun: { trigger: 'interval', counts: { updated: 1 } },
  })

  expect(one.clock.nowMs() - startedAtMs).toBeLessThanOrEqual(66_000)
  expect(await intervals()).toEqual({ a: 60, b: 60 })
  expect(one.events.filter(({ type }) => type === 'DriftHealed').map(({ message }) => message)).toEqual([
    'a was changed outside and put back: interval: 5m → 1m',
  ])
})

test('with drift: report a change by hand is shown and left, and with ignore not even shown', async () => {
  const one = await controllerOf({ more: '    drift: report\n' })
  one.repository.commit(files('a'))
  one.start()
  await one.nextCycle()
  await changeInterval('a', 300)

  const status = await one.nextCycle()

  expect(status).toMatchObject({
    headline: 'Drifted',
    counts: { Drifted: 1 },
    services: [{ key: 'a', state: 'Drifted' }],
  })
  expect(status.services[0]?.fields).toMatchObject([{ pointer: '/interval_secs', from: 300, to: 60 }])
  expect(await intervals()).toEqual({ a: 300 })
  await one.nextCycle()
  expect(one.events.filter(({ type }) => type === 'DriftFound')).toHaveLength(1)
})
