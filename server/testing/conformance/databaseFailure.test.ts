import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { FAILURES, faultInjectorOf, INSIDE } from '../faultInjector.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
const injector = await faultInjectorOf(server)
afterAll(async () => {
  await injector.close()
  await server.close()
})
afterEach(() => injector.repair())

const INTERNAL = '{"error":"internal error"}'
const { everything } = injector

const sealed = serviceBody({
  endpoints: [
    endpointBody({
      call: { Http: { method: 'POST', timeout: null, body: { value: 'hush', sensitive: true } } },
    }),
  ],
})
const headers = { 'idempotency-key': 'once' }

describe.each(FAILURES)('a database that fails with %s', (how) => {
  test.each([
    'INSERT ON services',
    'INSERT ON sealed_values',
    'INSERT ON commands',
    'UPDATE ON orgs',
    'INSERT ON remembered_creations',
  ])('C168 C169 at %s: a create is 500, has no effect, and succeeds once when repeated', async (event) => {
    const orgId = await server.createOrg()
    const key = await server.createKey({ orgId })
    const before = await everything()

    await injector.breakWrites({ event, how })
    const failed = await api.post('/v1/services', sealed, { key, headers })
    const during = await api.get('/v1/services', { key })
    const after = await everything()
    await injector.repair()
    const repeated = await api.post('/v1/services', sealed, { key, headers })
    const again = await api.post('/v1/services', sealed, { key, headers })

    expect([failed.status, failed.text, during.text]).toEqual([500, INTERNAL, '[]'])
    expect(after).toEqual(before)
    expect([repeated.status, again.text]).toEqual([201, repeated.text])
    expect(serviceResponseSchema.array().parse((await api.get('/v1/services', { key })).json)).toHaveLength(1)
  })
})

test('C168 a failed write does not affect concurrent ones', async () => {
  const bad = serviceBody({ name: 'Bad', regions: ['sa-east-1'] })
  await injector.breakWrites({ event: 'INSERT ON commands', when: "NEW.region = 'sa-east-1'" })

  const responses = await Promise.all(
    [serviceBody(), bad, serviceBody(), bad, serviceBody()].map((body) => api.post('/v1/services', body)),
  )
  const listed = serviceResponseSchema.array().parse((await api.get('/v1/services')).json)

  expect(responses.map(({ status }) => status)).toEqual([201, 500, 201, 500, 201])
  const acknowledged = responses.filter(({ status }) => status === 201).map(({ json }) => json)
  expect(listed).toEqual(expect.arrayContaining(acknowledged))
  expect(listed.filter(({ name }) => name === 'Bad')).toEqual([])
})

test('C168 a transaction that the database aborts gives 500 for all its mutations, and leaves nothing behind', async () => {
  const bad = serviceBody({ name: 'Bad', regions: ['sa-east-1'] })
  const before = await everything()
  const event = { event: 'INSERT ON commands', when: "NEW.region = 'sa-east-1'" }
  await injector.breakWrites({ ...event, how: 'ROLLBACK' })

  const responses = await Promise.all(
    [bad, serviceBody(), bad].map(async (body) => ({ body, ...(await api.post('/v1/services', body)) })),
  )

  const stored = responses.filter(({ status }) => status === 201).length
  expect(responses.filter(({ body, status }) => body === bad && status !== 500)).toEqual([])
  expect((await everything())[1]?.length).toBe((before[1]?.length ?? 0) + stored)
})

test('C168 a refused request gets its own error, even when its shared transaction fails', async () => {
  const { id } = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 0 }, orgId)
  const before = await everything()
  await injector.breakCommits()

  const responses = await Promise.all([
    api.post('/v1/services', serviceBody()),
    api.post('/v1/services', serviceBody(), { key }),
    api.delete(`/v1/services/${orgId}`),
    api.delete(`/v1/services/${id}`, { headers: { 'if-match': '"7"' } }),
    api.post('/v1/services', serviceBody()),
  ])
  await injector.repair()

  expect(responses.map(({ status }) => status)).toEqual([500, 403, 404, 412, 500])
  expect(await everything()).toEqual(before)
})

test('C168 while another program writes, reads and health checks work, and mutations wait for it', async () => {
  await injector.holdWrites()

  const created = api.post('/v1/services', serviceBody())
  const listed = await api.get('/v1/services')
  const health = await fetch(`${server.adminUrl}/healthz`)
  await injector.releaseWrites()

  expect([listed.status, health.status, (await created).status]).toEqual([200, 200, 201])
})

test.each([
  ['PATCH', '', 'UPDATE ON services'],
  ['PATCH', '', 'INSERT ON commands'],
  ['DELETE', '', 'DELETE ON services'],
  ['DELETE', '', 'INSERT ON commands'],
  ['POST', '/pause', 'INSERT ON commands'],
  ['POST', '/resume', 'UPDATE ON services'],
])(
  'C168 C169 %s of a service%s that fails at %s has no effect, and succeeds when repeated',
  async (...row) => {
    const [method, suffix, event] = row
    const { id } = serviceResponseSchema.parse((await api.post('/v1/services', sealed)).json)
    if (suffix === '/resume') await api.post(`/v1/services/${id}/pause`)
    const options = method === 'PATCH' ? { json: serviceBody({ name: 'New' }) } : {}
    const before = await everything()

    await injector.breakWrites({ event })
    const failed = await api.call(method, `/v1/services/${id}${suffix}`, options)
    const after = await everything()
    await injector.repair()
    const repeated = await api.call(method, `/v1/services/${id}${suffix}`, options)

    expect([failed.status, failed.text, after]).toEqual([500, INTERNAL, before])
    expect(repeated.status).toBe(method === 'DELETE' ? 204 : 200)
  },
)

test('C168 C169 a failed incident and a failed update use no number and leave no update behind', async () => {
  const { id } = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
  const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [id] }
  const first = incidentSchema.parse((await api.post('/v1/incidents', body)).json)
  const update = { body: 'x', status: 'resolved' }
  const before = await everything()

  await injector.breakWrites({ event: 'INSERT ON incident_updates' })
  const failed = [
    await api.post('/v1/incidents', body),
    await api.post(`/v1/incidents/${first.id}/updates`, update),
  ]
  const after = await everything()
  await injector.repair()
  const second = incidentSchema.parse((await api.post('/v1/incidents', body)).json)
  const updated = incidentSchema.parse((await api.post(`/v1/incidents/${first.id}/updates`, update)).json)

  expect(failed.map(({ status, text }) => [status, text])).toEqual([
    [500, INTERNAL],
    [500, INTERNAL],
  ])
  expect(after).toEqual(before)
  const number = (each: typeof first) => Number(each.display_id.slice('INC-'.length))
  expect([number(second), updated.updates.length]).toEqual([number(first) + 1, 2])
})

test('C168 reads of a missing table are 500, other reads work, and all work when it is back', async () => {
  const before = (await api.get('/v1/services')).text
  await injector.execute('ALTER TABLE services RENAME TO hidden')

  const failed = await api.get('/v1/services')
  const other = await api.get('/v1/regions')
  await injector.execute('ALTER TABLE hidden RENAME TO services')

  expect([failed.status, failed.text, other.status]).toEqual([500, INTERNAL, 200])
  expect((await api.get('/v1/services')).text).toBe(before)
})

test('C168 the database error is in the log and in no response', async () => {
  await injector.breakWrites({ event: 'INSERT ON services' })

  const failed = await api.post('/v1/services', serviceBody())

  expect(failed.text).toBe(INTERNAL)
  expect(server.logged()).toContain(INSIDE)
})

describe('C168 C169 when something inside fails', async () => {
  let fails = false
  const broken = await startServer({ rateLimit: 'none', environment: { uuid: () => nextUuid() } })
  afterAll(() => broken.close())
  function nextUuid(): string {
    if (fails) throw new Error('a secret of the inside')
    return crypto.randomUUID()
  }
  const client = apiClient(broken.url, broken.apiKey)

  test('the response is 500 without details, nothing is stored, and the same request succeeds later', async () => {
    fails = true
    const failed = await client.post('/v1/services', serviceBody())
    const stored = await broken.store.listServices(broken.orgId)
    fails = false
    const repeated = await client.post('/v1/services', serviceBody())

    expect([failed.status, failed.text, stored]).toEqual([500, '{"error":"internal error"}', []])
    expect(repeated.status).toBe(201)
    expect(serviceResponseSchema.array().parse((await client.get('/v1/services')).json)).toHaveLength(1)
    expect(broken.logged()).toContain('a secret of the inside')
  })
})
