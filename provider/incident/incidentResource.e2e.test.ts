import { beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../api/client/client.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import type { RecordingProxy } from '../testing/recordingProxy.ts'
import { openScenario } from '../testing/scenario.ts'
import { cannotRunTerraform, type TerraformWorkspace } from '../testing/terraformWorkspace.ts'

const APPLY = ['apply', '-auto-approve']
const PLAN = ['plan', '-detailed-exitcode']

interface Wanted {
  readonly title?: string
  readonly message?: string
  readonly severity?: string
  readonly rest?: string
}

describe.skipIf(cannotRunTerraform)('terraform', () => {
  let server: TestServer
  let proxy: RecordingProxy
  let workspace: TerraformWorkspace
  let byHand: Client
  let serviceId: string

  beforeEach(async () => {
    // A server that implements only the API document.
    server = await startServer({ rateLimit: 'none', isPlain: true })
    ;({ proxy, workspace, byHand } = await openScenario(server))
    const service = await byHand.createService(
      {
        name: 'checkout',
        interval_secs: 60,
        regions: ['eu-west-1'],
        endpoints: [
          { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
        ],
      },
      'service',
    )
    serviceId = service.id
  })

  function incident({
    title = 'Slow',
    message = 'Looking',
    severity = 'partial_outage',
    rest = '',
  }: Wanted): string {
    return `resource "pharos_incident" "slow" {
      title       = "${title}"
      message     = "${message}"
      severity    = "${severity}"
      service_ids = ["${serviceId}"]
      ${rest}
    }`
  }

  async function writesOf(configuration: string): Promise<readonly string[]> {
    workspace.configure(configuration)
    proxy.requests()
    await workspace.succeed(APPLY)
    return proxy
      .requests()
      .filter((line) => !line.startsWith('GET'))
      .map((line) => line.replace(/[0-9a-f-]{36}/, ':id'))
  }

  async function onlyIncident() {
    const id = String(workspace.attributes('pharos_incident.slow').id)
    return byHand.incidents.get(id)
  }

  test('opens an incident, posts one update for each change, and resolves it when it is destroyed', async () => {
    const opened = await writesOf(incident({}))
    const updated = await writesOf(
      incident({ message: 'Found it', severity: 'major_outage', rest: 'status = "identified"' }),
    )
    const again = await workspace.run(PLAN)
    const { id } = await onlyIncident()
    await workspace.succeed(['destroy', '-auto-approve'])

    expect(opened).toEqual(['POST /v1/incidents'])
    expect(updated).toEqual(['POST /v1/incidents/:id/updates'])
    expect(again.exitCode).toBe(0)
    const closed = await byHand.incidents.get(id)
    expect(closed.updates.map(({ body, status_at_update }) => [body, status_at_update])).toEqual([
      ['Looking', 'investigating'],
      ['Found it', 'identified'],
      ['Resolved.', 'resolved'],
    ])
    expect(closed.severity).toBe('major_outage')
  })

  test('an incident that was resolved manually stays resolved, and destroying it posts nothing', async () => {
    await writesOf(incident({ rest: 'status = "monitoring"' }))
    const { id } = await onlyIncident()
    await byHand.incidents.update(id, { body: 'All good', status: 'resolved' })

    const planned = await workspace.run(PLAN)
    const writes = await writesOf(incident({ message: 'Still looking', rest: 'status = "monitoring"' }))
    await workspace.succeed(['destroy', '-auto-approve'])

    expect(planned.exitCode).toBe(0)
    expect(planned.output).toContain('The incident is resolved')
    expect(writes).toEqual([])
    expect((await byHand.incidents.get(id)).updates.at(-1)?.body).toBe('All good')
  })

  test('another title resolves the incident and opens a new one', async () => {
    await writesOf(incident({}))
    const before = await onlyIncident()

    const writes = await writesOf(
      incident({ title: 'Very slow', rest: 'resolve_message = "See the next one."' }),
    )

    expect(writes).toEqual(['POST /v1/incidents/:id/updates', 'POST /v1/incidents'])
    expect((await byHand.incidents.get(before.id)).status).toBe('resolved')
    expect((await onlyIncident()).title).toBe('Very slow')
  })

  test('a manual update shows as a change of status where the status is managed, and is ignored where it is not', async () => {
    await writesOf(incident({}))
    const { id } = await onlyIncident()
    await byHand.incidents.update(id, { body: 'Ah', status: 'identified' })

    const unmanaged = await workspace.run(PLAN)
    workspace.configure(incident({ rest: 'status = "monitoring"' }))
    const managed = await workspace.run(PLAN)

    expect(unmanaged.exitCode).toBe(0)
    expect(managed.output).toContain('"identified" -> "monitoring"')
  })

  test.each([502, 'closed'] as const)(
    'an incident and an update without a response (%s) are posted once',
    async (how) => {
      proxy.loseResponse('POST', /\/incidents$/, how)
      await writesOf(incident({}))
      proxy.loseResponse('POST', /\/updates$/, how)
      await writesOf(incident({ message: 'Found it' }))
      const { items } = await byHand.incidents.list({ section: 'active' })
      proxy.loseResponse('POST', /\/updates$/, how)
      await workspace.succeed(['destroy', '-auto-approve'])

      expect(items.map(({ updates }) => updates.map(({ body }) => body))).toEqual([['Looking', 'Found it']])
      const closed = await byHand.incidents.get(items[0]?.id ?? '')
      expect(closed.updates.map(({ body }) => body)).toEqual(['Looking', 'Found it', 'Resolved.'])
    },
  )

  test('an update posts what the plan shows: a severity that ignore_changes keeps', async () => {
    const rest = 'lifecycle { ignore_changes = [severity] }'
    await writesOf(incident({ rest }))

    await writesOf(incident({ message: 'Found', severity: 'major_outage', rest }))

    const { items } = await byHand.incidents.list({ section: 'active' })
    expect(items).toMatchObject([{ severity: 'partial_outage', updates: [{}, { body: 'Found' }] }])
  })

  test('an incident whose status cannot be set is kept, and the message says how to continue', async () => {
    workspace.configure(incident({ rest: 'status = "identified"' }))
    proxy.refuseNext('POST', /\/updates$/, 403, 'no')

    const failed = await workspace.run(APPLY)
    await workspace.succeed(['untaint', 'pharos_incident.slow'])
    const writes = await writesOf(incident({ rest: 'status = "identified"' }))

    expect(failed.exitCode).toBe(1)
    expect(failed.output.replaceAll(/\s+/g, ' ')).toContain(
      'is open as investigating, and in the state as tainted',
    )
    expect(writes).toEqual(['POST /v1/incidents/:id/updates'])
    expect((await onlyIncident()).status).toBe('identified')
  })

  test('a refused key is one error for all incidents', async () => {
    const two = `${incident({})}\n${incident({ title: 'Slower' }).replace('"slow"', '"slower"')}`
    await writesOf(two)

    const { output } = await workspace.run(PLAN, { PHAROS_API_KEY: `pharos_${'0'.repeat(64)}` })

    expect(output.match(/^Error: /gm)?.length).toBe(1)
    expect(output).toContain('Warning: Not refreshed')
  })

  test('with the key of another organisation, no incident is forgotten, neither by a plan nor by a destroy without one', async () => {
    await writesOf(incident({}))
    const ofAnother = { PHAROS_API_KEY: await server.createKey({ orgId: await server.createOrg() }) }

    const planned = await workspace.run(PLAN, ofAnother)
    const destroyed = await workspace.run(['destroy', '-auto-approve', '-refresh=false'], ofAnother)

    for (const { exitCode, output } of [planned, destroyed]) {
      expect(exitCode).toBe(1)
      expect(output).toContain('Error: API key of another organisation')
    }
    expect((await onlyIncident()).status).toBe('investigating')
  })

  test('is imported by its id, also in upper case, and the plan after it is empty', async () => {
    const { id } = await byHand.incidents.create(
      { title: 'Slow', message: 'Looking', severity: 'partial_outage', service_ids: [serviceId] },
      'incident',
    )
    workspace.configure(incident({}).replace(serviceId, serviceId.toUpperCase()))

    await workspace.succeed(['import', 'pharos_incident.slow', id])
    const planned = await workspace.run(PLAN)

    expect(planned).toMatchObject({ exitCode: 0 })
  })

  test('every invalid value is refused before any request', async () => {
    workspace.configure(
      incident({ title: ' ', severity: 'bad', rest: 'status = "open"' }).replace(serviceId, 'x'),
    )

    const { exitCode, output } = await workspace.run(['validate'])

    expect(exitCode).toBe(1)
    for (const attribute of ['title', 'severity', 'service_ids', 'status'])
      expect(output).toContain(`${attribute} must`)
    expect(proxy.requests()).toEqual([])
  })
})
