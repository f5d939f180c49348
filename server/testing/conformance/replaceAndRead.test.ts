import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServiceResponse, serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'
import { storeService } from '../storedServices.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())
beforeAll(() => server.overrideLimits({ servicesMax: 2_000 }))

async function create(changes: Parameters<typeof serviceBody>[0] = {}): Promise<ServiceResponse> {
  return serviceResponseSchema.parse((await api.post('/v1/services', serviceBody(changes))).json)
}

/** Commands for the service after the first `before` commands. */
async function commandsAfter(before: number): Promise<readonly string[]> {
  const commands = (await server.commands()).slice(before)
  return commands.map(({ type, region }) => `${type.replace('ServiceMonitoring', '')} ${region}`)
}

test('C098 C099 the list has all services in the order of their creation, whatever the query says', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 2_000, endpointsMax: 2_000 }, orgId)
  expect((await api.get('/v1/services', { key })).text).toBe('[]')

  const names = Array.from({ length: 1_500 }, (_, index) => `service ${index}`)
  for (let at = 0; at < names.length; at += 50) {
    await Promise.all(names.slice(at, at + 50).map((name) => storeService(server.store, orgId, { name })))
  }
  const listed = await api.get('/v1/services', { key })

  const services = serviceResponseSchema.array().parse(listed.json)
  expect(services.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  const batches = services.map(({ name }) => Math.floor(names.indexOf(name) / 50))
  expect(batches).toEqual(batches.toSorted((a, b) => a - b))
  expect((await api.get('/v1/services?page=2&limit=1', { key })).text).toBe(listed.text)
})

test.each([
  ['GET', ''],
  ['PATCH', ''],
  ['DELETE', ''],
  ['POST', '/pause'],
  ['POST', '/resume'],
])(
  'C100 C113 C125 %s of another organisation’s service%s is 404, the same bytes as for an unknown id',
  async (method, suffix) => {
    const { id } = await create()
    const key = await server.createKey({ orgId: await server.createOrg() })
    const options = { key, ...(method === 'PATCH' ? { json: serviceBody() } : {}) }

    const foreign = await api.call(method, `/v1/services/${id}${suffix}`, options)
    const unknown = await api.call(method, `/v1/services/${UNKNOWN_ID}${suffix}`, options)

    expect([foreign.status, foreign.text]).toEqual([404, '{"error":"not found"}'])
    expect([unknown.status, unknown.text]).toEqual([404, foreign.text])
  },
)

test('C101 an id that is not a UUID is 404, and a UUID is case-insensitive', async () => {
  const { id } = await create()

  expect((await api.get('/v1/services/nonsense')).status).toBe(404)
  expect((await api.get(`/v1/services/${id.toUpperCase()}`)).status).toBe(200)
})

test('C102 instants are UTC with milliseconds', async () => {
  expect((await create()).created_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
})

test('C103 C111 a replace resets every optional field that it leaves out, sealed ones included', async () => {
  const { id } = await create({
    endpoints: [
      endpointBody({
        name: 'Front',
        call: {
          Http: {
            method: 'GET',
            timeout: { secs: 1, nanos: 0 },
            body: { value: 'x' },
            headers: { 'X-A': { value: 'hush', sensitive: true } },
            max_redirects_to_follow: 3,
            with_dns: true,
          },
        },
      }),
    ],
  })

  const replaced = serviceResponseSchema.parse((await api.patch(`/v1/services/${id}`, serviceBody())).json)

  const [endpoint] = replaced.endpoints
  expect([endpoint?.name, endpoint?.call]).toEqual([
    null,
    {
      Http: {
        method: 'GET',
        body: null,
        headers: null,
        max_redirects_to_follow: null,
        with_dns: null,
        timeout: null,
      },
    },
  ])
  expect(await server.store.sealedValues(id)).toEqual([])
})

test('C104 a replace without a required field is 400 and changes nothing', async () => {
  const { id } = await create()
  const before = await api.get(`/v1/services/${id}`)
  const { regions: _left, ...body } = serviceBody()

  expect((await api.patch(`/v1/services/${id}`, body)).status).toBe(400)
  expect((await api.get(`/v1/services/${id}`)).text).toBe(before.text)
})

test('C105 a replace keeps the fields that a request cannot contain', async () => {
  const before = await create()

  const { json } = await api.patch(`/v1/services/${before.id}`, serviceBody({ name: 'Cart' }))

  expect(json).toEqual({ ...before, name: 'Cart' })
})

test('C106 C107 a replace ends removed regions, then starts every region of the new set', async () => {
  const { id } = await create({ regions: ['eu-west-1', 'us-east-1'] })
  const before = (await server.commands()).length

  await api.patch(`/v1/services/${id}`, serviceBody({ regions: ['us-east-1', 'sa-east-1'] }))

  expect(await commandsAfter(before)).toEqual(['End eu-west-1', 'Start us-east-1', 'Start sa-east-1'])
})

test('C108 a replaced paused service stays paused without commands, and a resume starts the new definition', async () => {
  const { id } = await create()
  await api.post(`/v1/services/${id}/pause`)
  const before = (await server.commands()).length

  const replaced = await api.patch(`/v1/services/${id}`, serviceBody({ name: 'New', regions: ['us-east-1'] }))
  const silent = await commandsAfter(before)
  await api.post(`/v1/services/${id}/resume`)

  expect(serviceResponseSchema.parse(replaced.json).paused_at).not.toBeNull()
  expect([silent, await commandsAfter(before)]).toEqual([[], ['Start us-east-1']])
  const delivered = await server.store.definitionOf(id)
  expect(serviceResponseSchema.parse(JSON.parse(delivered?.text ?? '')).name).toBe('New')
})

test('C109 C110 a replace beyond the plan limit is 403 and changes nothing, and one that shrinks the service is always allowed', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  const three = [1, 2, 3].map((n) => endpointBody({ url: `https://example.com/${n}` }))
  const created = await api.post('/v1/services', serviceBody({ endpoints: three }), { key })
  const path = `/v1/services/${serviceResponseSchema.parse(created.json).id}`
  const patch = async (changes: Parameters<typeof serviceBody>[0]) =>
    (await api.patch(path, serviceBody(changes), { key })).status
  await server.overrideLimits(
    { endpointsMax: 1, serviceEndpointsMax: 1, regionsAllowed: ['eu-west-1'] },
    orgId,
  )
  const before = (await server.commands()).length

  expect(await patch({ endpoints: three, interval_secs: 29 })).toBe(403)
  expect(await patch({ endpoints: three, regions: ['us-east-1'] })).toBe(403)
  expect(await patch({ endpoints: [...three, endpointBody()] })).toBe(403)
  expect([(await api.get(path, { key })).text, await commandsAfter(before)]).toEqual([created.text, []])
  expect(await patch({ endpoints: three.slice(1) })).toBe(200)
  expect(await patch({ endpoints: three })).toBe(403)
})

test('C112 an endpoint with the same url, method and name keeps its id, in any order; another url gets a new one', async () => {
  const a = endpointBody({ url: 'https://example.com/a' })
  const b = endpointBody({ url: 'https://example.com/b' })
  const before = await create({ endpoints: [a, b, b] })
  const [idA, idB, idB2] = before.endpoints.map(({ id }) => id)

  const { json } = await api.patch(`/v1/services/${before.id}`, {
    ...serviceBody(),
    endpoints: [
      b,
      { ...a, url: 'https://example.com/c' },
      b,
      { ...a, assertions: [{ Body: { matcher: { Equals: 'x' } } }] },
    ],
  })

  const ids = serviceResponseSchema.parse(json).endpoints.map(({ id }) => id)
  expect([ids[0], ids[2], ids[3]]).toEqual([idB, idB2, idA])
  expect([idA, idB, idB2]).not.toContain(ids[1])
})

test('C114 after two concurrent replaces one complete definition remains, and the regions get it', async () => {
  const { id } = await create()
  const bodies = ['One', 'Two'].map((name) =>
    serviceBody({ name, regions: [name === 'One' ? 'us-east-1' : 'sa-east-1'] }),
  )

  await Promise.all(bodies.map((body) => api.patch(`/v1/services/${id}`, body)))

  const final = await api.get(`/v1/services/${id}`)
  const { name, regions } = serviceResponseSchema.parse(final.json)
  expect(bodies.map((body) => [body.name, body.regions])).toContainEqual([name, regions])
  const delivered = await server.store.definitionOf(id)
  expect([delivered?.text, delivered?.generation]).toEqual([final.text, 3])
})
