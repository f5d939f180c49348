import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { startServer } from '../../../server/testing/startServer.ts'
import { expectOneList } from '../expectOneList.ts'
import { openScenario, type Scenario, serviceBlock } from '../scenario.ts'
import { cannotRunTerraform, terraformWorkspace } from '../terraformWorkspace.ts'

/** Services that are imported: three times what Terraform does at once. */
const IMPORTED = 30

const many = (count: number, prefix = 'many'): string =>
  serviceBlock('many', `count = ${count}\n name = "${prefix} \${count.index}"`)

const request: ServiceRequest = {
  name: 'a',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

async function openServer(): Promise<Scenario> {
  return openScenario(await startServer({ rateLimit: 'none' }))
}

async function namesIn({ byHand }: Scenario): Promise<readonly string[]> {
  return (await byHand.listServices()).services.map(({ name }) => name).sort()
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('Scenarios 47 and 48: -target reads one service, -refresh=false none, and only new regions are looked up', async () => {
    const scenario = await openServer()
    const { workspace, proxy } = scenario
    await scenario.apply(many(5))
    proxy.requests()

    await workspace.succeed(['plan', '-target=pharos_service.many[3]'])
    const targeted = proxy.requests()
    await workspace.succeed(['plan', '-refresh=false'])
    const unrefreshed = proxy.requests()
    workspace.configure(many(5, 'renamed'))
    await workspace.succeed(['plan', '-refresh=false'])
    const renamed = proxy.requests()
    workspace.configure(many(5).replace('["eu-west-1"]', '["us-east-1"]'))
    await workspace.succeed(['plan', '-refresh=false'])
    const moved = proxy.requests()

    expect(targeted.map((line) => line.replace(/[0-9a-f-]{36}$/, ':id'))).toEqual(['GET /v1/services/:id'])
    expect(unrefreshed).toEqual([])
    expect(renamed).toEqual([])
    expect(moved).toEqual(['GET /v1/regions'])
  })

  test('Scenario 49: more services than the rate limit allows at once are created without an error and without loss', async () => {
    const scenario = await openScenario(await startServer({ rateLimit: 'contract' }))

    const output = await scenario.apply(many(26))
    const created = scenario.proxy.requests().filter((line) => line === 'POST /v1/services')

    expect(output).toContain('26 added')
    expect(created.length).toBe(26)
    expect(new Set(await namesIn(scenario)).size).toBe(26)
  })

  test('Scenario 50: two applies at once with one key, and two aliases in one of them, all succeed', async () => {
    const server = await startServer({ rateLimit: 'contract' })
    const scenario = await openScenario(server)
    const other = await terraformWorkspace({ url: scenario.proxy.url, apiKey: server.apiKey })
    onTestFinished(other.remove)
    scenario.workspace.configure(`provider "pharos" { alias = "other" }
      ${many(8)}
      ${serviceBlock('aliased', 'provider = pharos.other')}`)
    other.configure(many(8, 'other'))

    await Promise.all([
      scenario.workspace.succeed(['apply', '-auto-approve']),
      other.succeed(['apply', '-auto-approve']),
    ])

    expect(new Set(await namesIn(scenario)).size).toBe(17)
  })

  test('Scenario 51: an apply succeeds and reports nothing when half of all requests get 429', async () => {
    const scenario = await openServer()
    let asked = 0
    // Two refused, two let through: as often as at random, and the same every time.
    scenario.proxy.refuseForRate(() => asked++ % 4 < 2)

    const output = await scenario.apply(many(4))

    expect(output).not.toContain('rate limit')
    expect(await namesIn(scenario)).toEqual(['many 0', 'many 1', 'many 2', 'many 3'])
  })

  test('Ctrl-C ends a plan whose request for regions always gets 429', async () => {
    const { workspace, proxy } = await openServer()
    workspace.configure(serviceBlock('a'))
    proxy.misbehave({ path: /\/v1\/regions/, how: 'throttled' })

    const child = workspace.start(['plan'])
    const closed = once(child, 'close')
    child.stdout.resume()
    child.stderr.resume()
    await proxy.misbehaved()
    child.kill('SIGINT')

    expect(await closed).toEqual([1, null])
  })

  test('a plan that gets 429 says so in the log, first as a warning', async () => {
    const scenario = await openScenario(await startServer({ rateLimit: 'none' }), 'installed')
    scenario.workspace.configure(serviceBlock('a'))
    await scenario.workspace.succeed(['init'])
    let asked = 0
    scenario.proxy.refuseForRate(() => asked++ < 3)

    const { exitCode, output } = await scenario.workspace.run(['plan'], { TF_LOG_PROVIDER: 'INFO' })

    expect(exitCode).toBe(0)
    const lines = output.match(
      /\[\w+\] +provider[^\n]*the request is sent again: the API responded with 429/g,
    )
    expect(lines).toHaveLength(3)
    expect(lines?.[0]).toMatch(/^\[WARN\]/)
  })

  test('Scenario 56: after a refusal by the plan limit the created services are in the state, and the next apply continues', async () => {
    const server = await startServer({ rateLimit: 'none' })
    const scenario = await openScenario(server)
    await server.overrideLimits({ servicesMax: 2 })
    scenario.workspace.configure(many(5))

    const failed = await scenario.workspace.run(['apply', '-auto-approve', '-parallelism=1'])
    const kept = scenario.workspace.state().size
    await server.overrideLimits({ servicesMax: 10 })
    const resumed = await scenario.workspace.succeed(['apply', '-auto-approve'])

    expect(failed.output.match(/Error: Cannot create service/g)?.length).toBe(3)
    expect(failed.output).toContain('plan limit: at most 2 active services')
    expect(kept).toBe(2)
    expect(resumed).toContain('3 added, 0 changed, 0 destroyed')
  })

  test('Scenario 60: a malformed list, and a list with one unreadable service, remove nothing from the state', async () => {
    const scenario = await openServer()
    await scenario.apply(many(5))
    const [first] = (await scenario.byHand.listServices()).services
    scenario.proxy.rewrite('/v1/services', () => '{"garbage":')
    const garbage = await scenario.plan()
    scenario.proxy.rewrite('/v1/services', (body) => body.replaceAll('"call":{"Http"', '"call":{"Later"'))
    const unreadable = await scenario.plan()
    scenario.proxy.rewrite('/v1/services', (body) => {
      const services: { id: string; interval_secs: unknown }[] = JSON.parse(body)
      return JSON.stringify(
        services.map((service) =>
          service.id === first?.id ? { ...service, interval_secs: 'soon' } : service,
        ),
      )
    })
    scenario.proxy.rewrite(`/v1/services/${first?.id}`, () => '{}')
    const one = await scenario.plan()
    scenario.proxy.rewrite('/v1/services', (body) => body)
    scenario.proxy.rewrite(`/v1/services/${first?.id}`, (body) => body)
    const healed = await scenario.plan()

    for (const { exitCode, output } of [garbage, unreadable, one]) {
      expect(exitCode).toBe(1)
      expect(output).not.toContain('will be created')
    }
    expect(one.output.match(/^Error: /gm)?.length).toBe(1)
    expect(healed).toMatchObject({ exitCode: 0 })
  })

  test('Scenario 63: a list that is older than the last apply removes nothing', async () => {
    const scenario = await openServer()
    await scenario.apply(many(3))
    const stale = JSON.stringify((await scenario.byHand.listServices()).services)
    await scenario.apply(many(6))
    scenario.proxy.rewrite('/v1/services', () => stale)
    scenario.proxy.requests()

    const { exitCode, output } = await scenario.plan()

    expect({ exitCode, isEmpty: output.includes('No changes.') }).toEqual({ exitCode: 0, isEmpty: true })
  })

  test(`Scenario 46: importing ${IMPORTED} services and planning them takes one list request each`, async () => {
    const server = await startServer({ rateLimit: 'none' })
    const scenario = await openScenario(server)
    await server.overrideLimits({ servicesMax: 1_000, endpointsMax: 1_000 })
    for (let index = 0; index < IMPORTED; index += 1) {
      await scenario.byHand.createService({ ...request, name: `many ${index}` }, `key-${index}`)
    }
    scenario.workspace.configure(`import {
      for_each = toset([for index in range(${IMPORTED}) : tostring(index)])
      to       = pharos_service.many[each.key]
      id       = "name=many \${each.key}"
    }
    ${serviceBlock('many', `for_each = toset([for index in range(${IMPORTED}) : tostring(index)])\n name = "many \${each.key}"`)}`)

    await scenario.workspace.succeed(['apply', '-auto-approve'])
    const taken = scenario.proxy.requests()
    const { exitCode } = await scenario.plan()

    expect(taken).toEqual(['GET /v1/services'])
    expect(exitCode).toBe(0)
    expectOneList(scenario.proxy.requests())
  })
})
