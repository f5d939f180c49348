import { afterAll, beforeAll, expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { rawExchange } from '../rawExchange.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

// The clock of the limiter is stopped, so that a spent key stays spent.
const server = await startServer({ monotonicMs: () => 0 })
const freshKey = () => server.createKey()
const api = apiClient(server.url, server.apiKey)
let spentKey = ''
let noApiKey = ''
let spentNoApiKey = ''
let noApiOrgId = ''
afterAll(() => server.close())

beforeAll(async () => {
  noApiOrgId = await server.createOrg({ plan: 'free' })
  spentKey = await freshKey()
  noApiKey = await server.createKey({ orgId: noApiOrgId, scope: 'read_only' })
  spentNoApiKey = await server.createKey({ orgId: noApiOrgId })
  for (const key of [spentKey, spentNoApiKey]) {
    await Promise.all(Array.from({ length: 20 }, () => api.get('/v1/org', { key })))
  }
})

test('1 before 3: a malformed request is 400 also without a key', async () => {
  const response = await rawExchange(server.url, 'GET /v1/org HTTP/1.1\r\nBroken\r\nHost: x\r\n\r\n')

  expect(response.status).toBe(400)
})

test('2 before 3: a path outside /v1 is 404 also without a key', async () => {
  expect((await api.get('/elsewhere', { key: null })).status).toBe(404)
})

test('3 before 4: a request without a key is 401 and never 429', async () => {
  const responses = await Promise.all(Array.from({ length: 30 }, () => api.get('/v1/org', { key: null })))

  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]))
})

test('4 before 5: a throttled key of a plan without API access is 429, not 403', async () => {
  expect((await api.get('/v1/org', { key: spentNoApiKey })).status).toBe(429)
})

test('5 before 6: the plan is named before the scope', async () => {
  const { status, text } = await api.post('/v1/services', serviceBody(), { key: noApiKey })

  expect([status, text]).toEqual([403, '{"error":"plan does not include API access"}'])
})

test('4 before 7: a throttled key is 429 on an unknown path', async () => {
  expect((await api.get('/v1/nothing', { key: spentKey })).status).toBe(429)
})

test('6 before 7: a read_only key that posts to an unknown path is 403', async () => {
  const key = await server.readOnlyKey()

  expect((await api.post('/v1/nothing', {}, { key })).text).toBe('{"error":"read-only key"}')
})

test('7 before 8: an unknown path and a wrong method are refused before the body is read', async () => {
  const options = {
    key: await freshKey(),
    raw: 'x'.repeat(1_048_577),
    headers: { 'content-type': 'text/plain' },
  }

  expect((await api.call('POST', '/v1/nothing', options)).status).toBe(404)
  expect((await api.call('PATCH', '/v1/services', options)).status).toBe(405)
})

test('8: size before media type, media type before syntax', async () => {
  const key = await freshKey()
  const headers = { 'content-type': 'text/plain' }

  const large = await api.call('POST', '/v1/services', { key, headers, raw: 'x'.repeat(1_048_577) })
  const typed = await api.call('POST', '/v1/services', { key, headers, raw: '{' })

  expect([large.status, typed.status]).toEqual([413, 415])
})

test('C113 8 and 9 before 10: a body is judged before its resource is looked up', async () => {
  const key = await freshKey()
  const path = `/v1/services/${UNKNOWN_ID}`

  const broken = await api.call('PATCH', path, {
    key,
    raw: '{',
    headers: { 'content-type': 'application/json' },
  })
  const invalid = await api.patch(path, {}, { key })
  const unknown = await api.patch(path, serviceBody(), { key })

  expect([broken.text, invalid.status, unknown.status]).toEqual([
    '{"error":"body: is not valid JSON"}',
    400,
    404,
  ])
})

test('9 before 11: an update is judged before the state of its incident', async () => {
  const key = await freshKey()
  const service = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody(), { key })).json)
  const opened = await api.post(
    '/v1/incidents',
    { title: 'x', message: 'x', severity: 'major_outage', service_ids: [service.id] },
    { key },
  )
  const path = `/v1/incidents/${incidentSchema.parse(opened.json).id}/updates`
  await api.post(path, { body: 'done', status: 'resolved' }, { key })

  const invalid = await api.post(path, { body: '', status: 'resolved' }, { key })
  const valid = await api.post(path, { body: 'again', status: 'resolved' }, { key })

  expect([invalid.text, valid.text]).toEqual([
    '{"error":"body: must not be empty"}',
    '{"error":"incident is already resolved"}',
  ])
})

test('10 before 11 and 12: an unknown service is 404 before precondition and plan are checked', async () => {
  const key = await freshKey()

  const response = await api.patch(`/v1/services/${UNKNOWN_ID}`, serviceBody({ interval_secs: 0 }), {
    key,
    headers: { 'if-match': '"7"' },
  })

  expect(response.status).toBe(404)
})

test('11 before 12: a precondition is judged before the plan', async () => {
  const key = await freshKey()
  const { json, headers } = await api.post('/v1/services', serviceBody(), { key })
  const { id } = serviceResponseSchema.parse(json)
  const tag = String(headers.etag)
  const tooFast = serviceBody({ interval_secs: 0 })

  const stale = await api.patch(`/v1/services/${id}`, tooFast, { key, headers: { 'if-match': '"7"' } })
  const fresh = await api.patch(`/v1/services/${id}`, tooFast, { key, headers: { 'if-match': tag } })

  expect([stale.status, fresh.status]).toEqual([412, 403])
})

test('9 before 12: an invalid definition is 400 before the plan is checked', async () => {
  const key = await freshKey()

  const response = await api.post(
    '/v1/services',
    { ...serviceBody({ interval_secs: 0 }), regions: ['nowhere'] },
    { key },
  )

  expect(response.status).toBe(400)
})
