import { beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../api/client/client.ts'
import type { ServiceRequest } from '../../api/contract/service.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import type { RecordingProxy } from '../testing/recordingProxy.ts'
import { openScenario } from '../testing/scenario.ts'
import { cannotRunTerraform, type TerraformWorkspace } from '../testing/terraformWorkspace.ts'

const request: ServiceRequest = {
  name: 'checkout',
  interval_secs: 90,
  regions: ['eu-west-1'],
  endpoints: [
    {
      url: 'https://example.com/',
      call: {
        Http: {
          method: 'GET',
          timeout: { secs: 1, nanos: 500_000_000 },
          headers: { Accept: { value: 'text/html' }, Authorization: { value: 'secret', sensitive: true } },
        },
      },
      assertions: [{ StatusCode: { expected: { Between: [200, 299] } } }],
    },
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

  /** The errors of a plan of `configuration`, by the label of their block. */
  async function failures(configuration: string): Promise<Readonly<Record<string, string>>> {
    workspace.configure(configuration)
    const { exitCode, output } = await workspace.run(['plan'])
    expect(exitCode).toBe(1)
    const errors = output.replaceAll(/\s+/g, ' ').split('Error: ').slice(1)
    return Object.fromEntries(errors.map((error) => [/with data\.\w+\.(\w+),/.exec(error)?.[1], error]))
  }

  test('Scenario 39: finds one service by id and by name, with everything but its sealed values', async () => {
    const service = await byHand.createService(request, 'service')
    workspace.configure(`
      data "pharos_service" "by_id" { id = "${service.id.toUpperCase()}" }
      data "pharos_service" "by_name" { name = "checkout" }
      output "both" { value = [data.pharos_service.by_id.created_at, data.pharos_service.by_name.created_at] }`)

    await workspace.succeed(['apply', '-auto-approve'])
    const found = workspace.attributes('data.pharos_service.by_name')

    expect(found).toMatchObject({
      id: service.id,
      interval: '1m30s',
      regions: ['eu-west-1'],
      paused: false,
      endpoints: [
        {
          url: 'https://example.com/',
          http: {
            method: 'GET',
            timeout: '1s500ms',
            body: null,
            headers: { Accept: { value: 'text/html' }, Authorization: { value: null } },
          },
          assertions: [{ status_code: { between: [200, 299] } }],
        },
      ],
    })
    expect(Object.keys(found.sealed_key_ids ?? {})).toEqual(['0.headers.Authorization'])
  })

  test('Scenario 39: a missing service and an ambiguous one are errors that name the candidates', async () => {
    const ids = [
      (await byHand.createService({ ...request, name: 'twin' }, 'a')).id,
      (await byHand.createService({ ...request, name: 'twin' }, 'b')).id,
    ]

    const errors = await failures(`
      data "pharos_service" "unnamed" { name = "unknown" }
      data "pharos_service" "twins" { name = "twin" }
      data "pharos_service" "unknown" { id = "00000000-0000-4000-8000-000000000000" }`)

    expect(errors.unnamed).toContain('No service of this organisation is called "unknown"')
    for (const text of [...ids, 'Several services of this name']) expect(errors.twins).toContain(text)
    expect(errors.unknown).toContain('This organisation has no service')
  })

  test('an invalid argument and a missing incident are errors at their data source', async () => {
    const errors = await failures(`
      data "pharos_services" "pattern" { name_regex = "(" }
      data "pharos_incidents" "section" { section = "old" }
      data "pharos_incident" "missing" { id = "${server.orgId}" }`)

    expect(errors.pattern).toContain('Invalid regular expression')
    expect(errors.section).toContain('active, resolved')
    expect(errors.missing).toContain(`This organisation has no incident ${server.orgId}.`)
  })

  test('Scenario 39: a service without id and name, and an incident by its display id, are refused before any request', async () => {
    const errors = await failures(`
      data "pharos_service" "neither" {}
      data "pharos_incident" "display_id" { id = "INC-1" }`)

    expect(errors.neither).toContain('Set exactly one of id and name')
    expect(errors.display_id).toContain('id must be the UUID of an incident, not its display_id.')
    expect(proxy.requests()).toEqual([])
  })

  test('Scenario 39: lists services by a pattern, without matches as an empty list, and includes those that the same run creates', async () => {
    await byHand.createService({ ...request, name: 'prod-b' }, 'a')
    await byHand.createService({ ...request, name: 'prod-a' }, 'b')
    workspace.configure(`
      resource "pharos_service" "new" {
        name      = "prod-c"
        interval  = "1m"
        regions   = ["eu-west-1"]
        endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
      }
      data "pharos_services" "prod" {
        name_regex = "^prod-"
        depends_on = [pharos_service.new]
      }
      data "pharos_services" "none" { name_regex = "^test-" }`)

    await workspace.succeed(['apply', '-auto-approve'])
    const prod = workspace.attributes('data.pharos_services.prod')
    const none = workspace.attributes('data.pharos_services.none')

    expect(prod.services).toMatchObject([{ name: 'prod-a' }, { name: 'prod-b' }, { name: 'prod-c' }])
    expect(none.services).toEqual([])
  })

  test('reads regions and organisation, each with one request', async () => {
    workspace.configure(`
      data "pharos_regions" "all" {}
      data "pharos_org" "me" {}`)

    await workspace.succeed(['apply', '-auto-approve'])
    const requests = proxy.requests()

    expect(workspace.attributes('data.pharos_regions.all')).toMatchObject({
      codes: expect.arrayContaining(['eu-west-1', 'us-east-1']),
      regions: expect.arrayContaining([{ code: 'eu-west-1', city: 'Dublin', country: 'Ireland' }]),
    })
    expect(workspace.attributes('data.pharos_org.me')).toMatchObject({
      id: server.orgId,
      plan: 'business',
      scope: 'read_write',
    })
    expect([...requests].sort()).toEqual(['GET /v1/org', 'GET /v1/regions'])
  })

  test('reads incidents one by one and by filter, over all pages', async () => {
    const service = await byHand.createService(request, 'service')
    const open = {
      title: 'Slow',
      message: 'Looking',
      severity: 'partial_outage',
      service_ids: [service.id],
    } as const
    const incident = await byHand.incidents.create({ ...open, service_ids: [service.id] }, 'incident')
    workspace.configure(`
      data "pharos_incident" "one" { id = "${incident.id}" }
      data "pharos_incidents" "active" {}
      data "pharos_incidents" "resolved" { section = "resolved" }`)

    await workspace.succeed(['apply', '-auto-approve'])
    const one = workspace.attributes('data.pharos_incident.one')
    const active = workspace.attributes('data.pharos_incidents.active')
    const resolved = workspace.attributes('data.pharos_incidents.resolved')

    expect(one).toMatchObject({
      title: 'Slow',
      status: 'investigating',
      resolved_at: null,
      updates: [{ body: 'Looking', status: 'investigating' }],
    })
    expect(active.incidents).toMatchObject([{ id: incident.id, service_ids: [service.id] }])
    expect(resolved.incidents).toEqual([])
  })

  test('with the key of another organisation, an incident is not reported as missing', async () => {
    const { other } = await failures(`
      provider "pharos" { expected_org_id = "${await server.createOrg()}" }
      data "pharos_incident" "other" { id = "${server.orgId}" }`)

    expect(other).toContain('API key of another organisation')
  })
})
