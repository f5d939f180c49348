import { afterAll, expect, test } from 'vitest'
import { type ServiceResponse, serviceResponseSchema } from '../../../api/contract/service.ts'
import type { LimitOverrides } from '../../store/store.ts'
import { apiClient } from '../apiClient.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

async function create(key = server.apiKey): Promise<ServiceResponse> {
  const body = serviceBody({ regions: ['eu-west-1', 'us-east-1'] })
  return serviceResponseSchema.parse((await api.post('/v1/services', body, { key })).json)
}

async function commandsOf(id: string): Promise<readonly string[]> {
  const commands = (await server.commands()).filter(({ service_id }) => service_id === id)
  return commands.map(({ type, region }) => `${type.replace('ServiceMonitoring', '')} ${region}`)
}

const STARTS = ['Start eu-west-1', 'Start us-east-1']
const ENDS = ['End eu-west-1', 'End us-east-1']

test('C115 C116 a deleted service stays deleted and its regions get an end command', async () => {
  const { id } = await create()

  const deleted = await api.delete(`/v1/services/${id}`)

  expect([deleted.status, deleted.text, deleted.headers['content-type']]).toEqual([204, '', undefined])
  expect((await api.get(`/v1/services/${id}`)).status).toBe(404)
  expect((await api.delete(`/v1/services/${id}`)).status).toBe(404)
  expect((await api.get('/v1/services')).text).not.toContain(id)
  expect(await commandsOf(id)).toEqual([...STARTS, ...ENDS])
})

test('C117 a paused service is deleted too, and its configured regions get another end command', async () => {
  const { id } = await create()
  await api.post(`/v1/services/${id}/pause`)

  expect((await api.delete(`/v1/services/${id}`)).status).toBe(204)
  expect(await commandsOf(id)).toEqual([...STARTS, ...ENDS, ...ENDS])
})

test('C119 pause ends every region once; a second pause changes nothing', async () => {
  const { id } = await create()

  const first = await api.post(`/v1/services/${id}/pause`)
  const second = await api.post(`/v1/services/${id}/pause`)

  expect([first.status, second.status]).toEqual([200, 200])
  expect(serviceResponseSchema.parse(first.json).paused_at).not.toBeNull()
  expect(second.text).toBe(first.text)
  expect(await commandsOf(id)).toEqual([...STARTS, ...ENDS])
})

test('C121 resume starts every configured region once; a second resume changes nothing', async () => {
  const { id } = await create()
  await api.post(`/v1/services/${id}/pause`)

  const first = await api.post(`/v1/services/${id}/resume`)
  const second = await api.post(`/v1/services/${id}/resume`)

  expect([first.status, serviceResponseSchema.parse(first.json).paused_at]).toEqual([200, null])
  expect(second.text).toBe(first.text)
  expect(await commandsOf(id)).toEqual([...STARTS, ...ENDS, ...STARTS])
})

test.each<[string, LimitOverrides]>([
  ['services', { servicesMax: 1 }],
  ['endpoints', { endpointsMax: 1 }],
  ['interval', { intervalSecsMin: 61 }],
  ['regions', { regionsAllowed: ['eu-west-1'] }],
])(
  'C122 resume over the limit of %s as of now is 403 and the service stays paused',
  async (_limit, overrides) => {
    const orgId = await server.createOrg()
    const key = await server.createKey({ orgId })
    const { id } = await create(key)
    await api.post(`/v1/services/${id}/pause`, undefined, { key })
    await create(key)
    await server.overrideLimits(overrides, orgId)

    const refused = await api.post(`/v1/services/${id}/resume`, undefined, { key })

    expect(refused.status).toBe(403)
    const { json } = await api.get(`/v1/services/${id}`, { key })
    expect(serviceResponseSchema.parse(json).paused_at).not.toBeNull()
  },
)

test('C123 pausing makes room for another service', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 1 }, orgId)
  const { id } = await create(key)
  const full = await api.post('/v1/services', serviceBody(), { key })

  await api.post(`/v1/services/${id}/pause`, undefined, { key })

  expect([full.status, (await api.post('/v1/services', serviceBody(), { key })).status]).toEqual([403, 201])
})

test.each([
  ['no body', {}],
  ['an empty object', { json: {} }],
  ['an empty body with a JSON content type', { raw: '', headers: { 'content-type': 'application/json' } }],
  ['a body that is not JSON', { raw: '{{{', headers: { 'content-type': 'text/plain' } }],
])('C124 pause, resume and delete take %s', async (_what, options) => {
  const { id } = await create()

  const statuses = [
    await api.call('POST', `/v1/services/${id}/pause`, options),
    await api.call('POST', `/v1/services/${id}/resume`, options),
    await api.call('DELETE', `/v1/services/${id}`, options),
  ].map(({ status }) => status)

  expect(statuses).toEqual([200, 200, 204])
})

test('C125 pausing and resuming an unknown service is 404', async () => {
  expect((await api.post(`/v1/services/${UNKNOWN_ID}/pause`)).status).toBe(404)
  expect((await api.post(`/v1/services/${UNKNOWN_ID}/resume`)).status).toBe(404)
})

test('the usage of an organisation is correct after any sequence of changes', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 2, endpointsMax: 3 }, orgId)
  const a = await create(key)
  const b = await create(key)
  await api.patch(`/v1/services/${a.id}`, serviceBody({ endpoints: [endpointBody(), endpointBody()] }), {
    key,
  })
  await api.post(`/v1/services/${b.id}/pause`, undefined, { key })
  await api.patch(`/v1/services/${b.id}`, serviceBody({ endpoints: [endpointBody(), endpointBody()] }), {
    key,
  })

  const full = await api.post(`/v1/services/${b.id}/resume`, undefined, { key })
  await api.delete(`/v1/services/${a.id}`, { key })
  const fits = await api.post(`/v1/services/${b.id}/resume`, undefined, { key })
  const last = await api.post('/v1/services', serviceBody(), { key })

  expect([full.status, fits.status, last.status]).toEqual([403, 200, 201])
})
