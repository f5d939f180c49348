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

  async function failure(configuration: string): Promise<string> {
    workspace.configure(configuration)
    const { exitCode, output } = await workspace.run(['plan'])
    expect(exitCode).toBe(1)
    return output.replaceAll(/\s+/g, ' ')
  }

  test('Scenario 39: finds one service by id and by name, with everything but its sealed values', async () => {
    const service = await byHand.createService(request, 'service')
    workspace.configure(`
      data "pharos_service" "by_id" { id = "${service.id.toUpperCase()}" }
      data "pharos_service" "by_name" { name = "checkout" }
      output "both" { value = [data.pharos_service.by_id.created_at, data.pharos_service.by_name.created_at] }`)

    await workspace.succeed(['apply', '-auto-approve'])
    const found = await workspace.attributes('data.pharos_service.by_name')

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

  test('Scenario 39: a missing or ambiguous service is an error that names the candidates', async () => {
    const ids = [
      (await byHand.createService({ ...request, name: 'twin' }, 'a')).id,
      (await byHand.createService({ ...request, name: 'twin' }, 'b')).id,
    ]

    const unnamed = await failure('data "pharos_service" "x" { name = "unknown" }')
    const twins = await failure('data "pharos_service" "x" { name = "twin" }')
    const unknown = await failure('data "pharos_service" "x" { id = "00000000-0000-4000-8000-000000000000" }')
    const neither = await failure('data "pharos_service" "x" {}')

    expect(unnamed).toContain('No service of this organisation is called "unknown"')
    for (const id of [...ids, 'Several services of this name']) expect(twins).toContain(id)
    expect(unknown).toContain('This organisation has no service')
    expect(neither).toContain('Set exactly one of id and name')
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
    const prod = await workspace.attributes('data.pharos_services.prod')
    const none = await workspace.attributes('data.pharos_services.none')

    expect(prod.services).toMatchObject([{ name: 'prod-a' }, { name: 'prod-b' }, { name: 'prod-c' }])
    expect(none.services).toEqual([])
    expect(await failure('data "pharos_services" "x" { name_regex = "(" }')).toContain(
      'Invalid regular expression',
    )
  })

  test('reads regions and organisation, each with one request', async () => {
    workspace.configure(`
      data "pharos_regions" "all" {}
      data "pharos_org" "me" {}`)

    await workspace.succeed(['apply', '-auto-approve'])
    const requests = proxy.requests()

    expect(await workspace.attributes('data.pharos_regions.all')).toMatchObject({
      codes: expect.arrayContaining(['eu-west-1', 'us-east-1']),
      regions: expect.arrayContaining([{ code: 'eu-west-1', city: 'Dublin', country: 'Ireland' }]),
    })
    expect(await workspace.attributes('data.pharos_org.me')).toMatchObject({
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
    const one = await workspace.attributes('data.pharos_incident.one')
    const active = await workspace.attributes('data.pharos_incidents.active')
    const resolved = await workspace.attributes('data.pharos_incidents.resolved')

    expect(one).toMatchObject({
      title: 'Slow',
      status: 'investigating',
      resolved_at: null,
      updates: [{ body: 'Looking', status: 'investigating' }],
    })
    expect(active.incidents).toMatchObject([{ id: incident.id, service_ids: [service.id] }])
    expect(resolved.incidents).toEqual([])
    expect(await failure('data "pharos_incidents" "x" { section = "old" }')).toContain('active, resolved')
  })

  test('a missing incident is reported as missing, its display id as no id, and a key of another organisation as one', async () => {
    const missing = `data "pharos_incident" "x" { id = "${server.orgId}" }`

    expect(await failure('data "pharos_incident" "x" { id = "INC-1" }')).toContain(
      'id must be the UUID of an incident, not its display_id.',
    )
    expect(await failure(missing)).toContain(`This organisation has no incident ${server.orgId}.`)
    expect(
      await failure(`provider "pharos" { expected_org_id = "${await server.createOrg()}" }\n${missing}`),
    ).toContain('API key of another organisation')
  })
})
