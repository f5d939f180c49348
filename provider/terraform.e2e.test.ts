import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../api/client/client.ts'
import type { ServiceRequest } from '../api/contract/service.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { expectOneList } from './testing/expectOneList.ts'
import type { RecordingProxy } from './testing/recordingProxy.ts'
import { openScenario } from './testing/scenario.ts'
import {
  cannotRunTerraform,
  type TerraformWorkspace,
  terraformWorkspace,
  type WorkspaceOptions,
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

  /** Has the built executable started by Terraform from here on, over TLS, as a user has it. */
  async function useInstalled(): Promise<void> {
    const options: WorkspaceOptions = { url: proxy.url, apiKey: server.apiKey, provider: 'installed' }
    workspace = await terraformWorkspace(options)
    onTestFinished(workspace.remove)
    workspace.configure('')
    await workspace.succeed(['init'])
  }

  async function apply(configuration: string, environment?: NodeJS.ProcessEnv): Promise<string> {
    workspace.configure(configuration)
    return workspace.succeed(APPLY, environment)
  }

  test('Scenario 1: creates what is configured, then plans nothing, then destroys it', async () => {
    await useInstalled()
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

  test('Scenario 46: a plan of many services costs one list request and at most three requests in all', async () => {
    const many = `resource "pharos_service" "many" {
      count     = 12
      name      = "many \${count.index}"
      interval  = "60s"
      regions   = ["eu-west-1"]
      endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
    }`
    await apply(many)
    proxy.requests()

    const { exitCode } = await workspace.run(PLAN)

    expect(exitCode).toBe(0)
    expectOneList(proxy.requests())
  })

  test('Scenario 13: services that are created paused are paused once each', async () => {
    await apply(
      Array.from({ length: 6 }, (_, i) => service(`s${i}`, i % 2 === 0 ? 'paused = true' : '')).join('\n'),
    )

    const writes = proxy.requests().filter((line) => line.startsWith('POST'))
    expect(writes.filter((line) => line === 'POST /v1/services').length).toBe(6)
    expect(writes.filter((line) => line.endsWith('/pause')).length).toBe(3)
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
    const clean = await workspace.run(PLAN)
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

    expect(clean).toMatchObject({ exitCode: 0 })
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

  test('Scenarios 21, 22 and 23: a secret is in no file of Terraform and no log, and is sent again only when it changes', async () => {
    const secret = `canary-${randomBytes(12).toString('hex')}`
    const rotated = `canary-${randomBytes(12).toString('hex')}`
    const configuration = `variable "token" {
  type      = string
  ephemeral = true
}
resource "pharos_service" "sealed" {
  name     = "sealed"
  interval = "60s"
  regions  = ["eu-west-1"]
  endpoints = [{
    url  = "https://example.com/"
    http = { method = "POST", body = { value_wo = "body \${var.token}" }, headers = { Authorization = { value_wo = "Bearer \${var.token}" } } }
  }]
}
`
    const log = { TF_LOG: 'TRACE', TF_LOG_PATH: `${workspace.folder}/trace.log` }
    const applied = await apply(configuration, { ...log, TF_VAR_token: secret })
    const planned = await workspace.succeed(['plan', '-out=saved.tfplan'], {
      ...log,
      TF_VAR_token: secret,
    })
    const shown = await workspace.succeed(['show', '-json', 'saved.tfplan'])
    const same = await workspace.run(PLAN, { TF_VAR_token: secret })
    const changed = await workspace.run(PLAN, { ...log, TF_VAR_token: rotated })
    proxy.requests()
    await workspace.succeed(APPLY, { ...log, TF_VAR_token: rotated })
    const after = await workspace.run(PLAN, { TF_VAR_token: rotated })

    expect(same.exitCode).toBe(0)
    expect(changed.exitCode).toBe(2)
    expect(changed.output).toContain('A secret changed')
    expect(proxy.requests().filter((line) => line.startsWith('PATCH')).length).toBe(1)
    expect(proxy.passed.filter(({ body }) => body.includes(rotated)).length).toBe(1)
    expect(after.exitCode).toBe(0)
    for (const canary of [secret, rotated]) {
      expect(workspace.filesWith(canary)).toEqual([])
      expect(applied + planned + shown + changed.output).not.toContain(canary)
      expect(server.logged()).not.toContain(canary)
    }
    expect(readFileSync(log.TF_LOG_PATH).length).toBeGreaterThan(0)
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

  test('Scenarios 33 and 34: a service is imported by its id or its name, and the plan after it is empty', async () => {
    const one = await byHand.createService({ ...request, name: 'one' }, 'a')
    await byHand.createService({ ...request, name: 'two' }, 'b')
    await byHand.createService({ ...request, name: 'twin' }, 'c')
    await byHand.createService({ ...request, name: 'twin' }, 'd')
    workspace.configure(service('one') + service('two'))

    await workspace.succeed(['import', 'pharos_service.one', one.id])
    await workspace.succeed(['import', 'pharos_service.two', 'name=two'])
    const planned = await workspace.run(PLAN)
    workspace.configure(service('one') + service('two') + service('twin'))
    const ambiguous = await workspace.run(['import', 'pharos_service.twin', 'name=twin'])
    const unknown = await workspace.run(['import', 'pharos_service.twin', 'name=unknown'])

    expect(planned).toMatchObject({ exitCode: 0 })
    expect(ambiguous.output).toContain('2 services are called "twin"')
    expect(unknown.output).toContain('No service of this organisation is called "unknown"')
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

    const planned = await workspace.run(PLAN)
    await workspace.succeed(APPLY)
    const [after] = (await byHand.listServices()).services
    await byHand.deleteService(after!.id)
    await workspace.succeed(['destroy', '-auto-approve', '-refresh=false'])

    expect(planned.exitCode).toBe(2)
    expect(planned.output).toContain('1 to add')
    expect(after?.id).not.toBe(before?.id)
  })

  test('Scenario 19: a created service that cannot be paused is deleted again, so that nothing is left tainted', async () => {
    workspace.configure(service('asleep', 'paused = true'))
    proxy.refuseNext('POST', /\/pause$/, 403, 'no')

    const failed = await workspace.run(APPLY)

    expect(failed.exitCode).toBe(1)
    expect(failed.output).toContain('Cannot create service "asleep"')
    expect((await byHand.listServices()).services).toEqual([])
    expect(await workspace.succeed(['state', 'list'])).toBe('')
    await workspace.succeed(APPLY)
    expect((await byHand.listServices()).services.length).toBe(1)
  })

  test('Scenario 56: a plan limit is reported with the text of the API, and earlier creates are kept', async () => {
    await server.overrideLimits({ servicesMax: 2 })
    workspace.configure(service('a') + service('b') + service('c'))

    const failed = await workspace.run([...APPLY, '-parallelism=1'])

    expect(failed.exitCode).toBe(1)
    expect(failed.output).toContain('plan limit: at most 2 active services.')
    expect((await workspace.succeed(['state', 'list'])).trim().split('\n').length).toBe(2)
  })

  test('Scenario 42: an unknown region is refused in the plan with a list of the valid codes', async () => {
    workspace.configure(service('a').replace('eu-west-1', 'eu-west-9'))

    const { exitCode, output } = await workspace.run(PLAN)

    expect(exitCode).toBe(1)
    expect(output).toMatch(/There is no region eu-west-9\. Regions are .*eu-west-1/s)
  })

  test('Scenarios 41 and 44: validation needs neither key nor network and names every invalid attribute', async () => {
    await useInstalled()
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

  test('Scenario 41: a regular expression that RE2 does not support is an error at its place, before any request', async () => {
    workspace.configure(`resource "pharos_service" "odd" {
  name      = "odd"
  interval  = "60s"
  regions   = ["eu-west-1"]
  endpoints = [{
    url        = "https://example.com/"
    http       = { method = "GET" }
    assertions = [{ body = { regex = "(?=a)" } }, { body = { regex = "^ok$" } }]
  }]
}`)

    const { exitCode, output } = await workspace.run(['validate'])

    expect(exitCode).toBe(1)
    expect(output.replaceAll(/\s+/g, ' ')).toContain('endpoints[0].assertions[0].body.regex does not compile')
    expect(output).not.toContain('assertions[1]')
  })
})
