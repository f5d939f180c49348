import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../api/client/client.ts'
import type { ServiceRequest } from '../api/contract/service.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import type { RecordingProxy } from './testing/recordingProxy.ts'
import { openScenario } from './testing/scenario.ts'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
} from './testing/terraformWorkspace.ts'

const APPLY = ['apply', '-auto-approve', '-input=false']
const PLAN = ['plan', '-detailed-exitcode', '-input=false']

function service(label: string, body = ''): string {
  return `resource "pharos_service" "${label}" {
  name      = "${label}"
  interval  = "60s"
  regions   = ["eu-west-1"]
  endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
  ${body}
}
`
}

const importOf = (label: string, id: string): string =>
  `import {\n  to = pharos_service.${label}\n  id = "${id}"\n}\n`

const request: ServiceRequest = {
  name: 'by hand',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  let server: TestServer
  let proxy: RecordingProxy
  let workspace: TerraformWorkspace
  let byHand: Client

  beforeEach(async () => {
    server = await startServer({ rateLimit: 'none' })
    ;({ proxy, workspace, byHand } = await openScenario(server))
  })

  async function apply(configuration: string, environment?: NodeJS.ProcessEnv): Promise<string> {
    workspace.configure(configuration)
    return workspace.succeed(APPLY, environment)
  }

  test('Scenario 1: creates what is configured, then plans nothing, then destroys it', async () => {
    // Terraform starts the built executable, over TLS, as for a user.
    workspace = await terraformWorkspace({ url: proxy.url, apiKey: server.apiKey, provider: 'installed' })
    onTestFinished(workspace.remove)
    workspace.configure('')
    await workspace.succeed(['init'])
    await apply(service('plain') + service('asleep', 'paused = true'))
    const { services } = await byHand.listServices()
    const again = await workspace.run(PLAN)
    await workspace.succeed(['destroy', '-auto-approve'])

    expect(services.map(({ name, paused_at }) => [name, paused_at != null]).sort()).toEqual([
      ['asleep', true],
      ['plain', false],
    ])
    expect(again).toMatchObject({ exitCode: 0 })
    expect((await byHand.listServices()).services).toEqual([])
  })

  test('Scenario 8: every attribute survives a round trip, and a drift of each kind shows as exactly that', async () => {
    const configuration = `resource "pharos_service" "full" {
  name     = "full"
  interval = "90s"
  regions  = ["us-east-1", "eu-west-1"]
  endpoints = [{
    url  = "https://example.com/a"
    name = "a"
    http = {
      method        = "POST"
      timeout       = "1.5s"
      max_redirects = 0
      with_dns      = true
      body          = { value = "{}" }
      headers       = { Accept = { value = "text/html" }, "X-Empty" = { value = "" } }
    }
    assertions = [
      { status_code = { eq = 200 } },
      { status_code = { ne = 500 } },
      { status_code = { gt = 199 } },
      { status_code = { gte = 200 } },
      { status_code = { lt = 300 } },
      { status_code = { lte = 299 } },
      { status_code = { between = [200, 299] } },
      { status_code = { one_of = [204, 200] } },
      { latency = { phase = "headers", lt = "800ms" } },
      { latency = { phase = "body", lte = "0.5s" } },
      { latency = { phase = "total", between = ["1ms", "1m"] } },
      { dns_resolution = { lte = "50ms" } },
      { header = { name = "content-type", eq = "text/html" } },
      { header = { name = "content-type", contains = "html" } },
      { body = { starts_with = "<" } },
      { body = { ends_with = ">" } },
      { body = { regex = "ok" } },
    ]
  }]
}
`
    await apply(configuration)
    const [full] = (await byHand.listServices()).services
    const endpoint = full!.endpoints[0]!
    await byHand.replaceService(full!.id, {
      ...request,
      name: 'full',
      interval_secs: 90,
      regions: ['eu-west-1', 'us-east-1'],
      endpoints: [
        {
          url: endpoint.url,
          name: 'a',
          assertions: endpoint.assertions,
          call: {
            Http: {
              method: 'POST',
              timeout: { secs: 1, nanos: 500_000_000 },
              max_redirects_to_follow: 0,
              with_dns: true,
              body: { value: '{}' },
              headers: { accept: { value: 'text/plain' }, 'x-empty': { value: '' } },
            },
          },
        },
      ],
    })
    const drifted = await workspace.run(PLAN)
    await workspace.succeed(APPLY)
    const healed = await workspace.run(PLAN)

    expect(drifted.exitCode).toBe(2)
    expect(
      drifted.output
        .match(/^\s+[~+-] .*$/gm)
        ?.filter((line) => line.includes('='))
        .map((line) => line.trim().replaceAll(/ +/g, ' ')),
    ).toEqual([
      '~ endpoints = [',
      '~ http = {',
      '~ headers = {',
      '~ "Accept" = {',
      '~ value = "text/plain" -> "text/html"',
    ])
    expect(healed).toMatchObject({ exitCode: 0 })
  })

  test('Scenarios 14, 16 and 17: pausing and resuming alone sends no definition, and an unmanaged manual pause stays', async () => {
    await apply(service('managed', 'paused = false') + service('unmanaged'))
    const { services } = await byHand.listServices()
    for (const { id } of services) await byHand.pauseService(id)
    proxy.requests()

    const planned = await workspace.run(PLAN)
    await workspace.succeed(APPLY)

    expect(planned.output).toContain('pharos_service.managed will be updated')
    expect(planned.output).not.toContain('pharos_service.unmanaged will be updated')
    expect(proxy.requests().filter((line) => !line.startsWith('GET'))).toEqual([
      expect.stringMatching(/^POST .*\/resume$/),
    ])
    const paused = (await byHand.listServices()).services.map(({ name, paused_at }) => [
      name,
      paused_at != null,
    ])
    expect(paused.sort()).toEqual([
      ['managed', false],
      ['unmanaged', true],
    ])
  })

  test('Scenarios 33 and 34: a service is imported by its id or its name, without a difference', async () => {
    const one = await byHand.createService({ ...request, name: 'one' }, 'a')
    await byHand.createService({ ...request, name: 'two' }, 'b')

    const output = await apply(
      service('one') + importOf('one', one.id) + service('two') + importOf('two', 'name=two'),
    )

    expect(output).toContain('2 imported, 0 added, 0 changed, 0 destroyed')
  })

  test('Scenario 35: an ambiguous name, an unknown name, an unknown id and a malformed one get different errors', async () => {
    await byHand.createService({ ...request, name: 'twin' }, 'a')
    await byHand.createService({ ...request, name: 'twin' }, 'b')
    const labels = ['ambiguous', 'unnamed', 'unknown', 'malformed']
    workspace.configure(
      labels.map((label) => service(label)).join('') +
        importOf('ambiguous', 'name=twin') +
        importOf('unnamed', 'name=unknown') +
        importOf('unknown', '00000000-0000-4000-8000-000000000000') +
        importOf('malformed', 'checkout'),
    )

    const { exitCode, output } = await workspace.run(PLAN)

    const text = output.replaceAll(/\s+/g, ' ')
    expect(exitCode).toBe(1)
    expect(text.split('Error: ').length - 1).toBe(labels.length)
    expect(text).toContain('2 services are called "twin"')
    expect(text).toContain('No service of this organisation is called "unknown"')
    expect(text).toContain('Cannot import non-existent remote object')
    expect(text).toMatch(/UUID .*name=/)
  })

  test('Scenario 58: a key of another organisation stops the run with one error before any service counts as deleted', async () => {
    await apply(['a', 'b', 'c', 'd'].map((label) => service(label)).join(''))
    const foreignKey = await server.createKey({ orgId: await server.createOrg() })

    const { exitCode, output } = await workspace.run(PLAN, { PHAROS_API_KEY: foreignKey })

    expect(exitCode).toBe(1)
    expect(output.match(/^Error: .*/gm)).toEqual(['Error: API key of another organisation'])
    expect(output).not.toContain('will be created')
  })

  test('Scenarios 6 and 7: a service that was deleted manually is created again, and destroying a deleted one succeeds', async () => {
    await apply(service('plain'))
    const [before] = (await byHand.listServices()).services
    await byHand.deleteService(before!.id)

    const again = await workspace.succeed(APPLY)
    const [after] = (await byHand.listServices()).services
    await byHand.deleteService(after!.id)
    await workspace.succeed(['destroy', '-auto-approve', '-refresh=false'])

    expect(again).toContain('1 added, 0 changed, 0 destroyed')
    expect(after?.id).not.toBe(before?.id)
  })

  test('Scenario 19: a created service that cannot be paused is deleted again, so that nothing is left tainted', async () => {
    workspace.configure(service('asleep', 'paused = true'))
    proxy.refuseNext('POST', /\/pause$/, 403, 'no')

    const failed = await workspace.run(APPLY)

    expect(failed.exitCode).toBe(1)
    expect(failed.output).toContain('Cannot create service "asleep"')
    expect((await byHand.listServices()).services).toEqual([])
    expect(workspace.state().size).toBe(0)
    await workspace.succeed(APPLY)
    expect((await byHand.listServices()).services.length).toBe(1)
  })

  test('Scenario 42: an unknown region is refused in the plan with a list of the valid codes', async () => {
    workspace.configure(service('a').replace('eu-west-1', 'eu-west-9'))

    const { exitCode, output } = await workspace.run(PLAN)

    expect(exitCode).toBe(1)
    expect(output).toMatch(/There is no region eu-west-9\. Regions are .*eu-west-1/s)
  })

  test('Scenarios 41 and 44: validation needs neither key nor network and names every invalid attribute', async () => {
    workspace.configure(`resource "pharos_service" "bad" {
  name      = ""
  interval  = "1.5s"
  regions   = []
  endpoints = [{
    url        = "ftp://example.com"
    http       = { method = "PUT", timeout = "soon", headers = { B = {} } }
    assertions = [{}, { status_code = { eq = 1, lt = 3 } }, { latency = { phase = "all", between = ["2s", "1s"] } }]
  }]
}`)

    const { output } = await workspace.run(['validate'], { PHAROS_URL: '', PHAROS_API_KEY: '' })

    const text = output.replaceAll(/\s+/g, ' ')
    for (const place of [
      'name must not be empty',
      'interval must be a whole number of seconds',
      'regions must name at least one region',
      'endpoints[0].url must be an absolute',
      'endpoints[0].http.method must be one of GET, POST',
      'endpoints[0].http.timeout must be a duration',
      'endpoints[0].http.headers["B"] must have either value or value_wo',
      'endpoints[0].assertions[0] must have exactly one of status_code',
      'endpoints[0].assertions[1].status_code must have exactly one of eq',
      'endpoints[0].assertions[2].latency.phase must be one of headers, body, total',
      'endpoints[0].assertions[2].latency.between must not have its bounds reversed',
    ]) {
      expect(text).toContain(place)
    }
    expect(proxy.requests()).toEqual([])
  })

  test('Scenario 45: a missing key is one error for the provider, not one for each resource', async () => {
    workspace.configure(`provider "pharos" {}\n${service('a')}${service('b')}${service('c')}`)

    const { exitCode, output } = await workspace.run(PLAN, { PHAROS_API_KEY: '' })

    expect(exitCode).toBe(1)
    expect(output.match(/^Error: /gm)?.length).toBe(1)
    expect(output).toContain('Set the environment variable PHAROS_API_KEY')
  })
})
