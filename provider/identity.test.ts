import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { METHODS } from './protocol/testing/providerClient.ts'
import type { TerraformCore } from './protocol/testing/terraformCore.ts'
import { decodeMsgpack, encodeMsgpack } from './protocol/values/msgpack.ts'
import { UNKNOWN } from './protocol/values/value.ts'
import { openProvider } from './testing/openProvider.ts'

const service = {
  name: 'checkout',
  interval: '60s',
  regions: ['eu-west-1'],
  endpoints: [{ url: 'https://example.com/', http: { method: 'GET' } }],
}

async function connected() {
  const { client, core } = await openProvider(await startServer({ rateLimit: 'none' }))
  await core.configure({})
  return { client, core }
}

const identityType = { object: { id: 'string' } } as const
const identityIn = (wire: { readonly data?: { readonly msgpack?: Uint8Array } | undefined } | undefined) =>
  decodeMsgpack(identityType, wire?.data?.msgpack ?? new Uint8Array())

test('Scenario 37: services and incidents are named by their id', async () => {
  const { client } = await connected()

  const { identitySchemas } = await client.call(METHODS.GetResourceIdentitySchemas, {})

  for (const typeName of ['pharos_service', 'pharos_incident']) {
    const [id, ...others] = identitySchemas.get(typeName)?.attributes ?? []
    expect(id).toMatchObject({ name: 'id', requiredForImport: true })
    expect(Buffer.from(id?.type ?? []).toString()).toBe('"string"')
    expect(others).toEqual([])
  }
})

test('Scenario 37: the identity is unknown in the plan of a new service, and its id in every later response', async () => {
  const { client, core } = await connected()
  const wire = async (planned: Awaited<ReturnType<TerraformCore['plan']>>) => ({
    typeName: 'pharos_service',
    priorState: { msgpack: encodeMsgpack(planned.prior.state) },
    proposedNewState: { msgpack: encodeMsgpack(planned.state) },
    plannedState: { msgpack: encodeMsgpack(planned.state) },
    config: { msgpack: encodeMsgpack(planned.config) },
    plannedPrivate: planned.private,
  })
  const plan = await core.plan('pharos_service', service)

  const planned = await client.call(METHODS.PlanResourceChange, await wire(plan))
  const applied = await client.call(METHODS.ApplyResourceChange, await wire(plan))
  const identity = identityIn(applied.newIdentity)
  const read = await client.call(METHODS.ReadResource, {
    typeName: 'pharos_service',
    currentState: applied.newState,
    private: applied.private,
  })

  expect(identityIn(planned.plannedIdentity)).toEqual({ id: UNKNOWN })
  expect(identity).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  expect(identityIn(read.newIdentity)).toEqual(identity)
})

test('Scenarios 33 and 37: a service is imported by its identity, and a stored identity is read as it is', async () => {
  const { client } = await connected()
  const id = '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e'

  const imported = await client.call(METHODS.ImportResourceState, {
    typeName: 'pharos_service',
    identity: { data: { msgpack: encodeMsgpack({ id }) } },
  })
  const upgraded = await client.call(METHODS.UpgradeResourceIdentity, {
    typeName: 'pharos_service',
    version: 0,
    rawIdentity: { json: Buffer.from(JSON.stringify({ id })) },
  })

  expect(imported.diagnostics).toEqual([])
  expect(identityIn(imported.importedResources[0]?.identity)).toEqual({ id })
  expect(identityIn(upgraded.upgradedIdentity)).toEqual({ id })
})
