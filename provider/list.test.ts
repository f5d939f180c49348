import { status } from '@grpc/grpc-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../api/client/client.ts'
import { Limiter } from '../api/client/limiter.ts'
import type { ServiceRequest } from '../api/contract/service.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { pharosProvider } from './pharosProvider.ts'
import { serveForReattach } from './protocol/reattach.ts'
import { connect, METHODS, type ProviderClient } from './protocol/testing/providerClient.ts'
import { openCore, type TerraformCore } from './protocol/testing/terraformCore.ts'
import { decodeMsgpack, encodeMsgpack } from './protocol/values/msgpack.ts'
import { type RecordingProxy, startRecordingProxy } from './testing/recordingProxy.ts'

const request: ServiceRequest = {
  name: 'a',
  interval_secs: 60,
  regions: ['eu-west-1'],
  endpoints: [
    { url: 'https://example.com/', call: { Http: { method: 'GET', timeout: null } }, assertions: [] },
  ],
}

interface Listing {
  readonly server: TestServer
  readonly proxy: RecordingProxy
  readonly client: ProviderClient
  readonly core: TerraformCore
  readonly ids: ReadonlyMap<string, string>
}

/** A configured provider in front of a server with services called `names`. */
async function listing(...names: readonly string[]): Promise<Listing> {
  const server = await startServer({ rateLimit: 'none' })
  const limiter = new Limiter({ burstRequests: 1_000, refillIntervalMs: 1 })
  const byHand = new Client({ url: server.url, apiKey: server.apiKey, userAgent: 'test', limiter })
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, (await byHand.createService({ ...request, name }, name)).id)
  const proxy = await startRecordingProxy(server.url)
  const environment = { PHAROS_URL: proxy.url, PHAROS_API_KEY: server.apiKey }
  const served = await serveForReattach(pharosProvider('1.2.3', environment), ['pharos/pharos'])
  const client = connect(served.target)
  onTestFinished(async () => {
    client.close()
    served.close()
    await byHand.close()
    await proxy.close()
    await server.close()
  })
  const core = await openCore(client)
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

  test('Scenario 38: includes the resource on request, as a read right after has it', async () => {
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

  test('a filter that is no regular expression is an error at its attribute, and no object', async () => {
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
    expect(metadata.listResources).toEqual([{ typeName: 'pharos_service' }])
    expect([...schema.listResourceSchemas.keys()]).toEqual(['pharos_service'])
    expect(proxy.requests()).toEqual([])
  })
})

test.each(['PlanAction', 'OpenEphemeralResource', 'GetStates', 'GenerateResourceConfig'])(
  'what is not offered is declined with UNIMPLEMENTED: %s',
  async (name) => {
    const { client } = await listing()

    const declined = client.call({ ...METHODS.GetFunctions, path: `/tfplugin6.Provider/${name}` }, {})

    await expect(declined).rejects.toMatchObject({ code: status.UNIMPLEMENTED })
  },
)
