import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServiceResponse, serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())
beforeAll(() => server.overrideLimits({ servicesMax: 10_000, endpointsMax: 100_000 }))

/** Status of creating the minimal service with `changes`, which need not be valid. */
async function statusOf(changes: Record<string, unknown>): Promise<number> {
  return (await api.post('/v1/services', { ...serviceBody(), ...changes })).status
}

async function create(changes: Parameters<typeof serviceBody>[0] = {}): Promise<ServiceResponse> {
  return serviceResponseSchema.parse((await api.post('/v1/services', serviceBody(changes))).json)
}

test('C043 C044 a minimal definition gets 201 with the whole service', async () => {
  const { status, json } = await api.post('/v1/services', serviceBody())

  expect(status).toBe(201)
  const service = serviceResponseSchema.strict().parse(json)
  expect(service).toEqual({
    id: service.id,
    org_id: server.orgId,
    name: 'Checkout',
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        id: service.endpoints[0]?.id,
        url: 'https://example.com/',
        name: null,
        call: {
          Http: {
            method: 'GET',
            body: null,
            headers: null,
            max_redirects_to_follow: null,
            with_dns: null,
            timeout: null,
          },
        },
        assertions: [],
        blocked: false,
      },
    ],
    created_at: service.created_at,
    paused_at: null,
    created_by_email: null,
    auto_incident_failure_threshold: null,
    auto_incident_window_minutes: null,
    auto_incident_enabled: false,
  })
})

test('C045 C046 C047 a new service belongs to the organisation of the key, is active and has no automatic incidents', async () => {
  const { org_id, paused_at, auto_incident_enabled, ...service } = await create()

  expect([org_id, paused_at, auto_incident_enabled]).toEqual([server.orgId, null, false])
  expect([service.auto_incident_failure_threshold, service.auto_incident_window_minutes]).toEqual([
    null,
    null,
  ])
})

test('C048 reading a new service by its id gives the same bytes', async () => {
  const created = await api.post('/v1/services', serviceBody())
  const { id } = serviceResponseSchema.parse(created.json)

  expect((await api.get(`/v1/services/${id}`)).text).toBe(created.text)
})

test('C049 each listed region, and no other, gets a start command', async () => {
  const { id } = await create({ regions: ['us-east-1', 'eu-west-1'] })

  const commands = (await server.commands()).filter(({ service_id }) => service_id === id)

  expect(commands).toEqual([
    { type: 'StartServiceMonitoring', region: 'us-east-1', service_id: id },
    { type: 'StartServiceMonitoring', region: 'eu-west-1', service_id: id },
  ])
})

describe.each(['name', 'interval_secs', 'regions', 'endpoints'] as const)('the field %s', (field) => {
  test('C051 missing gets 400', async () => {
    const { [field]: _left, ...rest } = serviceBody()

    expect((await api.post('/v1/services', rest)).status).toBe(400)
  })

  const valid = serviceBody()[field]
  const wrong = [null, 'x', 1.5, true, {}, { a: 1 }, [1], [null]].filter(
    (value) => typeof value !== typeof valid || typeof valid === 'object' || value === 1.5,
  )
  test.each(wrong.map((value) => [value]))('C052 C053 of the wrong type (%j) gets 400', async (value) => {
    expect(await statusOf({ [field]: value })).toBe(400)
  })
})

test.each([
  ['C054 an empty name', { name: '' }],
  ['C054 a blank name', { name: '  ' }],
  ['C055 a name of 256 emoji', { name: '🦑'.repeat(256) }],
  ['C056 a negative interval', { interval_secs: -1 }],
  ['C056 an interval past int32', { interval_secs: 2_147_483_648 }],
  ['C056 a fractional interval', { interval_secs: 1.5 }],
  ['C056 an interval in a string', { interval_secs: '60' }],
  ['C059 no region', { regions: [] }],
  ['C059 a region twice', { regions: ['eu-west-1', 'eu-west-1'] }],
  ['C059 an unknown region', { regions: ['eu-west-9'] }],
  ['C059 a region in another case', { regions: ['EU-WEST-1'] }],
  ['C061 no endpoint', { endpoints: [] }],
])('%s gets 400', async (_name, changes) => {
  expect(await statusOf(changes)).toBe(400)
})

test('C055 a name of 255 emoji is returned as it was sent', async () => {
  const name = '🦑'.repeat(255)

  expect((await create({ name })).name).toBe(name)
})

test('C057 an interval of 0 or below the minimum of the plan gets 403, the minimum itself 201', async () => {
  const statuses = [0, 29, 30].map((interval_secs) => statusOf({ interval_secs }))

  expect(await Promise.all(statuses)).toEqual([403, 403, 201])
})

test('C058 the longest interval gets 201', async () => {
  expect(await statusOf({ interval_secs: 2_147_483_647 })).toBe(201)
})

test.each([
  ['C095 auto_incident_enabled', { auto_incident_enabled: true }],
  ['C096 an unknown field', { nonsense: { deep: [1] } }],
])('%s in the body has no effect and is not echoed', async (_name, extra) => {
  const { status, json, text } = await api.post('/v1/services', { ...serviceBody(), ...extra })

  expect([status, serviceResponseSchema.strict().parse(json).auto_incident_enabled]).toEqual([201, false])
  expect(text).not.toContain('nonsense')
})

test('C096 an unknown field gets 400 when the caller requested strict handling', async () => {
  const headers = { prefer: 'handling=strict' }
  const deep = serviceBody({ endpoints: [{ ...endpointBody(), ...{ nonsense: 1 } }] })

  const strict = await api.post('/v1/services', deep, { headers })
  const known = await api.post('/v1/services', serviceBody(), { headers })

  expect([strict.status, strict.text]).toEqual([
    400,
    '{"error":"endpoints[0].nonsense: is not a known field"}',
  ])
  expect(known.status).toBe(201)
})

describe('on a plan with low limits', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  const post = async (changes: Parameters<typeof serviceBody>[0] = {}) =>
    (await api.post('/v1/services', serviceBody(changes), { key })).status
  const twoEndpoints = [endpointBody(), endpointBody({ url: 'https://example.org/' })]
  beforeAll(() =>
    server.overrideLimits(
      { servicesMax: 2, endpointsMax: 3, serviceEndpointsMax: 2, regionsAllowed: ['eu-west-1'] },
      orgId,
    ),
  )

  test('C060 C062 C063 C065 a create beyond each limit is 403 and has no effect, and one exactly at the limit is 201', async () => {
    const before = (await server.commands()).length
    const refusedRegion = await post({ regions: ['eu-west-1', 'us-east-1'] })
    const refusedEndpoints = await post({ endpoints: [...twoEndpoints, endpointBody()] })
    const first = await post({ endpoints: twoEndpoints })
    const refusedTotal = await post({ endpoints: twoEndpoints })
    const exact = await post()
    const refusedCount = await post()

    expect([refusedRegion, refusedEndpoints, first, refusedTotal, exact, refusedCount]).toEqual([
      403, 403, 201, 403, 201, 403,
    ])
    const stored = serviceResponseSchema.array().parse((await api.get('/v1/services', { key })).json)
    expect(stored.map(({ endpoints }) => endpoints.length)).toEqual([2, 1])
    const commanded = (await server.commands()).slice(before).map(({ service_id }) => service_id)
    expect(commanded).toEqual(stored.map(({ id }) => id))
  })
})

test('C064 fifty creates at once with ten places left make exactly ten services', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 10 }, orgId)

  const responses = await Promise.all(
    Array.from({ length: 50 }, () => api.post('/v1/services', serviceBody(), { key })),
  )

  const count = (status: number) => responses.filter((response) => response.status === status).length
  expect([count(201), count(403)]).toEqual([10, 40])
  expect((await server.store.listServices(orgId)).length).toBe(10)
})

test('paused services do not count, but ten times the limit is all that may be stored', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 1 }, orgId)
  for (let made = 0; made < 10; made += 1) {
    const { json } = await api.post('/v1/services', serviceBody(), { key })
    await api.post(`/v1/services/${serviceResponseSchema.parse(json).id}/pause`, undefined, { key })
  }

  const eleventh = await api.post('/v1/services', serviceBody(), { key })

  expect([eleventh.status, (await server.store.listServices(orgId)).length]).toEqual([403, 10])
})
