import { status } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import type { ServiceRequest } from '../api/contract/service.ts'
import { apiClient } from '../server/testing/apiClient.ts'
import { startServer } from '../server/testing/startServer.ts'
import { METHODS } from './protocol/testing/providerClient.ts'
import { decodeMsgpack, encodeMsgpack } from './protocol/values/msgpack.ts'
import { openProvider } from './testing/openProvider.ts'

const request: ServiceRequest = {
  name: 'a',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

/** A configured provider in front of a server with services called `names`. */
async function listing(...names: readonly string[]) {
  const server = await startServer({ rateLimit: 'none' })
  const { byHand, proxy, client, core } = await openProvider(server)
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, (await byHand.createService({ ...request, name }, name)).id)
  await core.configure({})
  return { server, proxy, client, core, ids }
}

const filter = (name_regex: string | null) => ({
  typeName: 'pharos_service',
  config: { msgpack: encodeMsgpack({ name_regex }) },
})
const identityType = { object: { id: 'string' } } as const

describe('the list of pharos_service', () => {
  test('Scenario 38: streams the identity and name of every service from one request', async () => {
    const { client, proxy, ids } = await listing('c', 'a', 'b')

    const events = await client.collect(METHODS.ListResource, filter(null))

    expect(events.map(({ displayName }) => displayName)).toEqual(['a', 'b', 'c'])
    expect(
      events.map(({ identity }) => decodeMsgpack(identityType, identity?.data?.msgpack ?? new Uint8Array())),
    ).toEqual(['a', 'b', 'c'].map((name) => ({ id: ids.get(name) })))
    expect(events.map(({ resourceObject }) => resourceObject)).toEqual([undefined, undefined, undefined])
    expect(proxy.requests()).toEqual(['GET /v1/services'])
  })

  test('Scenario 38: honours the limit and the name filter', async () => {
    const { client } = await listing('shop-1', 'shop-2', 'shop-3', 'blog')

    const limited = await client.collect(METHODS.ListResource, { ...filter('^shop-'), limit: 2 })
    const none = await client.collect(METHODS.ListResource, filter('nothing'))

    expect(limited.map(({ displayName }) => displayName)).toEqual(['shop-1', 'shop-2'])
    expect(none).toEqual([])
  })

  test('Scenario 38: includes the resource on request, equal to a read right after it', async () => {
    const { client, core, ids } = await listing('a')

    const [event] = await client.collect(METHODS.ListResource, {
      ...filter(null),
      includeResourceObject: true,
    })
    const imported = await core.import('pharos_service', ids.get('a') ?? '')
    const read = await client.call(METHODS.ReadResource, {
      typeName: 'pharos_service',
      currentState: { msgpack: encodeMsgpack(imported.state) },
    })

    expect(event?.resourceObject).toEqual(read.newState)
    expect(event?.identity).toEqual(read.newIdentity)
  })

  test('a filter that is not a regular expression is an error at its attribute, and lists nothing', async () => {
    const { client } = await listing('a')

    const events = await client.collect(METHODS.ListResource, filter('('))
    const [said] = events[0]?.diagnostics ?? []

    expect(events.length).toBe(1)
    expect(said?.summary).toBe('Invalid regular expression')
    expect(said?.attribute?.steps?.map(({ attributeName }) => attributeName)).toEqual(['name_regex'])
  })

  test('is validated without a request, named in the metadata and described in the schema', async () => {
    const { client, proxy } = await listing()

    const { diagnostics } = await client.call(METHODS.ValidateListResourceConfig, filter('a'))
    const metadata = await client.call(METHODS.GetMetadata, {})
    const schema = await client.call(METHODS.GetProviderSchema, {})

    expect(diagnostics).toEqual([])
    const types = ['pharos_service', 'pharos_incident']
    expect(metadata.listResources).toEqual(types.map((typeName) => ({ typeName })))
    expect([...schema.listResourceSchemas.keys()]).toEqual(types)
    expect(proxy.requests()).toEqual([])
  })
})

describe('the list of pharos_incident', () => {
  const wanted = (config: object) => ({
    typeName: 'pharos_incident',
    config: {
      msgpack: encodeMsgpack({ section: null, severity: null, q: null, service_ids: null, ...config }),
    },
  })

  async function withIncidents() {
    const found = await listing('a')
    const api = apiClient(found.server.url, found.server.apiKey)
    for (const title of ['One', 'Two']) {
      const service_ids = [...found.ids.values()]
      await api.post('/v1/incidents', { title, message: `${title}.`, severity: 'major_outage', service_ids })
    }
    return found
  }

  test('streams identities and names from one request, and the resource equal to a read after an import', async () => {
    const { client, core, proxy } = await withIncidents()

    const events = await client.collect(METHODS.ListResource, { ...wanted({}), includeResourceObject: true })
    const requests = proxy.requests()
    const [first] = events
    const { id } = Object(decodeMsgpack(identityType, first?.identity?.data?.msgpack ?? new Uint8Array()))
    const imported = await core.import('pharos_incident', id)
    const read = await client.call(METHODS.ReadResource, {
      typeName: 'pharos_incident',
      currentState: { msgpack: encodeMsgpack(imported.state) },
    })

    expect(events.map(({ displayName }) => displayName).sort()).toEqual(['INC-1 One', 'INC-2 Two'])
    expect(requests).toEqual([expect.stringContaining('GET /v1/incidents')])
    expect(first?.resourceObject).toEqual(read.newState)
    expect(first?.identity).toEqual(read.newIdentity)
  })

  test('applies a filter, and refuses an invalid value at its attribute', async () => {
    const { client } = await withIncidents()

    const found = await client.collect(METHODS.ListResource, wanted({ q: 'Two' }))
    const resolved = await client.collect(METHODS.ListResource, wanted({ section: 'resolved' }))
    const [wrong] = await client.collect(METHODS.ListResource, wanted({ section: 'open' }))

    expect(found.map(({ displayName }) => displayName)).toEqual(['INC-2 Two'])
    expect(resolved).toEqual([])
    expect(wrong?.diagnostics[0]?.summary).toBe('Invalid filter')
    expect(wrong?.diagnostics[0]?.attribute?.steps?.map(({ attributeName }) => attributeName)).toEqual([
      'section',
    ])
  })
})

test.each(['MoveResourceState', 'OpenEphemeralResource', 'GetStates', 'GenerateResourceConfig'])(
  'an unsupported RPC is declined with UNIMPLEMENTED: %s',
  async (name) => {
    const { client } = await listing()

    const declined = client.call({ ...METHODS.GetFunctions, path: `/tfplugin6.Provider/${name}` }, {})

    await expect(declined).rejects.toMatchObject({ code: status.UNIMPLEMENTED })
  },
)
