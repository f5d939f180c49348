/** The actions as Terraform 1.14 runs them; the Terraform of the tests is older. */
import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { METHODS, type ProviderClient } from './protocol/testing/providerClient.ts'
import { encodeMsgpack } from './protocol/values/msgpack.ts'
import { UNKNOWN, type Value } from './protocol/values/value.ts'
import { openProvider } from './testing/openProvider.ts'

/** A provider in front of a server with one service. */
async function acting() {
  const { client, proxy, byHand, core } = await openProvider(await startServer({ rateLimit: 'none' }))
  const { id: serviceId } = await byHand.createService(
    {
      ...{ name: 'shop', interval_secs: 60, regions: ['eu-west-1'] },
      endpoints: [
        { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
      ],
    },
    'shop',
  )
  return { client, proxy, byHand, serviceId, configure: () => core.configure({}) }
}

const asked = (typeName: string, config: { readonly [name: string]: Value }) => ({
  typeName,
  config: { msgpack: encodeMsgpack(config) },
})

/** What a person sees: lines of progress, then the ends of diagnostics. */
async function invoked(
  client: ProviderClient,
  actionType: string,
  config: { readonly [name: string]: Value },
): Promise<readonly string[]> {
  const events = await client.collect(METHODS.InvokeAction, asked(actionType, config))
  expect(events.at(-1)?.completed).toBeDefined()
  return events.flatMap(({ progress, completed }) => [
    ...(progress === undefined ? [] : [progress.message ?? '']),
    ...(completed?.diagnostics ?? []).map(({ summary, detail }) => `${summary}: ${detail}`),
  ])
}

test('a service is paused and resumed, each with one request and a line that names it', async () => {
  const { client, proxy, byHand, serviceId, configure } = await acting()
  await configure()

  const paused = await invoked(client, 'pharos_pause_service', { service_id: serviceId })
  const between = await byHand.getService(serviceId)
  const resumed = await invoked(client, 'pharos_resume_service', { service_id: serviceId })

  expect(paused).toEqual(['Service "shop" is paused.'])
  expect(resumed).toEqual(['Service "shop" is resumed.'])
  expect(between.paused_at).not.toBeNull()
  expect((await byHand.getService(serviceId)).paused_at).toBeNull()
  expect(proxy.requests()).toEqual([
    `POST /v1/services/${serviceId}/pause`,
    `POST /v1/services/${serviceId}/resume`,
  ])
})

test('an update is posted to an incident exactly once, even when its response is lost', async () => {
  const { client, proxy, byHand, serviceId, configure } = await acting()
  await configure()
  const { id } = await byHand.incidents.create(
    { title: 'Slow', message: 'Looking', severity: 'partial_outage', service_ids: [serviceId] },
    'incident',
  )
  proxy.loseResponse('POST', /\/updates$/, 'closed')

  const lines = await invoked(client, 'pharos_update_incident', {
    ...{ incident_id: id, message: 'Deployed a fix', status: 'resolved', severity: null },
  })

  expect(lines).toEqual(['Incident INC-1 is resolved.'])
  const { updates } = await byHand.incidents.get(id)
  expect(updates.map(({ body }) => body)).toEqual(['Looking', 'Deployed a fix'])
})

test('a failed action says why, and reports no progress after that', async () => {
  const { client, configure } = await acting()
  const missing = { service_id: '00000000-0000-4000-8000-000000000000' }

  const early = await invoked(client, 'pharos_pause_service', missing)
  await configure()
  const failed = await invoked(client, 'pharos_pause_service', missing)
  const unknown = await invoked(client, 'pharos_pause_service', { service_id: UNKNOWN })

  expect(early).toEqual([expect.stringContaining('The provider is not configured')])
  expect(failed).toEqual([expect.stringContaining('pause service')])
  expect(unknown).toEqual([expect.stringContaining('The action cannot run yet')])
})

test.each<[string, { readonly [name: string]: Value }, readonly string[]]>([
  ['pharos_pause_service', { service_id: 'shop' }, ['service_id must be the UUID of a service.']],
  ['pharos_pause_service', { service_id: UNKNOWN }, []],
  [
    'pharos_update_incident',
    { incident_id: 'INC-1', message: ' ', status: 'open', severity: 'bad' },
    ['incident_id must', 'message must', 'status must', 'severity must'],
  ],
  [
    'pharos_update_incident',
    { incident_id: UNKNOWN, message: UNKNOWN, status: UNKNOWN, severity: UNKNOWN },
    [],
  ],
])('%s with %o is checked before anything is sent: %j', async (actionType, config, problems) => {
  const { client, proxy } = await acting()

  const validated = await client.call(METHODS.ValidateActionConfig, asked(actionType, config))
  const planned = await client.call(METHODS.PlanAction, asked(actionType, config))

  expect(validated.diagnostics.map(({ detail }) => detail)).toEqual(
    problems.map((problem) => expect.stringContaining(problem)),
  )
  expect(planned.diagnostics).toEqual([])
  expect(proxy.requests()).toEqual([])
})

test('the schema names every action, and an unknown one is an error', async () => {
  const { client } = await acting()

  const { actionSchemas } = await client.call(METHODS.GetProviderSchema, {})
  const { actions } = await client.call(METHODS.GetMetadata, {})
  const { diagnostics } = await client.call(METHODS.PlanAction, asked('pharos_stop', {}))

  const names = ['pharos_pause_service', 'pharos_resume_service', 'pharos_update_incident']
  expect([...actionSchemas.keys()]).toEqual(names)
  expect(actions.map(({ typeName }) => typeName)).toEqual(names)
  expect(diagnostics.map(({ summary }) => summary)).toEqual(['The provider has no pharos_stop'])
})
