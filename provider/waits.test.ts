import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { METHODS } from './protocol/testing/providerClient.ts'
import { NOTHING } from './protocol/testing/terraformCore.ts'
import { encodeMsgpack } from './protocol/values/msgpack.ts'
import { openProvider } from './testing/openProvider.ts'
import type { Misbehaviour } from './testing/recordingProxy.ts'

const SERVICE = 'pharos_service'
const ID = '00000000-0000-4000-8000-000000000000'

const config = {
  name: 'a',
  interval: '1m',
  regions: ['eu-west-1'],
  endpoints: [{ url: 'https://example.com/', http: { method: 'GET' } }],
}

let server: TestServer
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
})
afterAll(() => server.close())

/** A configured provider, which expects an organisation of its own with one service. */
async function scene() {
  const orgId = await server.createOrg()
  const apiKey = await server.createKey({ orgId })
  const { proxy, client, core } = await openProvider(
    { url: server.url, apiKey, orgId, close: async () => undefined },
    { isGuarded: true },
  )
  await core.configure({})
  const service = await core.apply(SERVICE, await core.plan(SERVICE, config))
  // What was asked once is not asked again before the next configuration.
  await core.configure({})
  return { proxy, client, core, service }
}

/** What is asked, by what waits for it; each call gives the summaries of what was said. */
type Scene = Awaited<ReturnType<typeof scene>>

type Waiting = (scene: Scene) => Promise<readonly string[]>

const summaries = async (call: Promise<{ readonly diagnostics: readonly { summary?: string }[] }>) =>
  (await call).diagnostics.map(({ summary = '' }) => summary)

const data =
  (typeName: string, given: object = {}): Waiting =>
  ({ core }) =>
    summaries(core.readData(typeName, { ...given }))

const ORG = /\/v1\/org/
const SERVICES = /\/v1\/services/
const INCIDENTS = /\/v1\/incidents/

const WAITS: readonly (readonly [string, RegExp, Waiting])[] = [
  ['a plan for the regions', /\/v1\/regions/, ({ core }) => summaries(core.plan(SERVICE, config))],
  ['a read for the organisation', ORG, ({ core, service }) => summaries(core.read(SERVICE, service))],
  ['a read for the service', SERVICES, ({ core, service }) => summaries(core.read(SERVICE, service))],
  ['an import for the services', SERVICES, ({ core }) => summaries(core.import(SERVICE, 'name=a'))],
  [
    'a delete for the organisation',
    ORG,
    async ({ core, service }) => summaries(core.apply(SERVICE, await core.plan(SERVICE, null, service))),
  ],
  ['pharos_org', ORG, data('pharos_org')],
  ['pharos_regions', /\/v1\/regions/, data('pharos_regions')],
  ['pharos_service by id', SERVICES, data(SERVICE, { id: ID })],
  ['pharos_service by name', SERVICES, data(SERVICE, { name: 'a' })],
  ['pharos_services for the organisation', ORG, data('pharos_services')],
  ['pharos_services', SERVICES, data('pharos_services')],
  ['pharos_incident', INCIDENTS, data('pharos_incident', { id: ID })],
  ['pharos_incidents', INCIDENTS, data('pharos_incidents')],
  [
    'a list for the services',
    SERVICES,
    async ({ client }) => {
      const filter = { typeName: SERVICE, config: { msgpack: encodeMsgpack({ name_regex: null }) } }
      const events = await client.collect(METHODS.ListResource, filter)
      return events.flatMap(({ diagnostics = [] }) => diagnostics.map(({ summary = '' }) => summary))
    },
  ],
  [
    'an incident for the organisation',
    ORG,
    async ({ core }) => {
      const incident = { title: 'a', message: 'b', severity: 'partial_outage', service_ids: [ID] }
      return summaries(core.apply('pharos_incident', await core.plan('pharos_incident', incident)))
    },
  ],
]

const MANNERS: readonly Misbehaviour['how'][] = ['throttled', 'silent', 'dripping']

describe.each(MANNERS)('where the API is %s', (how) => {
  test.each(WAITS)('%s ends when Terraform is interrupted', async (_name, path, wait) => {
    const waiting = await scene()
    waiting.proxy.misbehave({ path, how })

    const said = wait(waiting)
    await waiting.proxy.misbehaved()
    await waiting.core.stop()

    expect(await said).toEqual([expect.stringContaining('was stopped')])
  })

  test('a plan continues without the regions when the read timeout is over', async () => {
    const { proxy, core } = await scene()
    proxy.misbehave({ path: /\/v1\/regions/, how })

    const planned = await core.plan(SERVICE, { ...config, timeouts: { read: '100ms' } })

    expect(planned.diagnostics.map(({ severity, summary }) => [severity, summary])).toEqual([
      ['warning', 'Regions were not checked'],
    ])
    expect(planned.diagnostics[0]?.detail).toContain('It took longer than 100ms')
  })

  test('a read that waits for the organisation ends at its timeout, and keeps the state', async () => {
    const { proxy, core } = await scene()
    const impatient = await core.apply(
      SERVICE,
      await core.plan(SERVICE, { ...config, name: 'b', timeouts: { read: '100ms' } }, NOTHING),
    )
    await core.configure({})
    proxy.misbehave({ path: ORG, how })

    const read = await core.read(SERVICE, impatient)

    expect(read.diagnostics.map(({ path, summary }) => [path, summary])).toEqual([
      ['timeouts["read"]', 'The read timed out'],
    ])
    expect(read.state).toEqual(impatient.state)
  })
})

test('a creation that can neither be finished nor undone is in the state when Terraform is interrupted', async () => {
  const { proxy, core } = await scene()
  const planned = await core.plan(SERVICE, { ...config, name: 'b', paused: true })
  proxy.misbehave({ path: /\/v1\/services\/./, how: 'throttled' })

  const creating = core.apply(SERVICE, planned)
  await proxy.misbehaved()
  await core.stop()
  const created = await creating

  expect(created.state?.id).toEqual(expect.any(String))
  expect(created.diagnostics.map(({ summary }) => summary)).toEqual([
    'The service was created and is not paused',
    'Creating pharos_service was stopped',
  ])
})
