import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
let nowMs = Date.parse('2026-01-01T00:00:00Z')
const environment = { nowMs: () => nowMs }
const server = await startServer({ rateLimit: 'none', environment })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const count = async (orgId = server.orgId) => (await server.store.listServices(orgId)).length

test('C172 the same key and body create one service, and both responses are the same', async () => {
  const before = await count()

  const responses = [
    await api.post('/v1/services', serviceBody(), keyed('same')),
    await api.post('/v1/services', serviceBody(), keyed('same')),
  ]

  expect(responses.map(({ status }) => status)).toEqual([201, 201])
  expect(responses[1]?.text).toBe(responses[0]?.text)
  expect((await count()) - before).toBe(1)
})

test('C172 the same key with another body is 400', async () => {
  await api.post('/v1/services', serviceBody(), keyed('other-body'))

  const { status, text } = await api.post('/v1/services', serviceBody({ name: 'Other' }), keyed('other-body'))

  expect([status, text]).toEqual([400, '{"error":"Idempotency-Key: was already used for another body"}'])
})

test.each([2, 40])('C172 %i simultaneous creations with one key have one effect', async (atOnce) => {
  const before = [await count(), (await server.commands()).length]

  const responses = await Promise.all(
    Array.from({ length: atOnce }, () => api.post('/v1/services', serviceBody(), keyed(`at-once-${atOnce}`))),
  )

  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect([await count(), (await server.commands()).length]).toEqual(before.map((each) => each + 1))
})

test('C172 of two simultaneous creations with one key and different bodies, one succeeds and the other is 400', async () => {
  const before = await count()

  const responses = await Promise.all(
    ['One', 'Two'].map((name) => api.post('/v1/services', serviceBody({ name }), keyed('contest'))),
  )

  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 400])
  expect((await count()) - before).toBe(1)
})

test('C172 simultaneous incidents with one key have one effect', async () => {
  const { id } = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
  const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [id] }

  const responses = await Promise.all(
    Array.from({ length: 10 }, () => api.post('/v1/incidents', body, keyed('incident-at-once'))),
  )
  const listed = await api.get(`/v1/incidents?section=active&service_id=${id}`)

  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(listed.json).toMatchObject({ total: 1 })
})

test('C172 the order of members and unknown members do not change the body', async () => {
  const headers = { a: { value: '1' }, b: { sensitive: false, value: '2' } }
  const call = { Http: { method: 'GET', timeout: null, headers } }
  const body = { ...serviceBody(), endpoints: [{ url: 'https://example.com', call, assertions: [] }] }
  const turned = {
    unknown: 1,
    ...Object.fromEntries(Object.entries(body).toReversed()),
    endpoints: [
      {
        assertions: [],
        call: {
          Http: {
            headers: { b: { value: '2', sensitive: false }, a: headers.a },
            timeout: null,
            method: 'GET',
          },
        },
        url: 'https://example.com',
      },
    ],
  }

  const first = await api.post('/v1/services', body, keyed('order'))
  const second = await api.post('/v1/services', turned, keyed('order'))
  const other = await api.post('/v1/services', { ...turned, regions: ['us-east-1'] }, keyed('order'))

  expect([second.status, second.text, other.status]).toEqual([201, first.text, 400])
})

test('C172 another organisation may use the same key, and so may an incident', async () => {
  const { json, text } = await api.post('/v1/services', serviceBody(), keyed('shared'))
  const key = await server.createKey({ orgId: await server.createOrg() })

  const foreign = await api.post('/v1/services', serviceBody(), { ...keyed('shared'), key })
  const { id } = serviceResponseSchema.parse(json)
  const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [id] }
  const first = await api.post('/v1/incidents', body, keyed('shared'))
  const second = await api.post('/v1/incidents', body, keyed('shared'))

  expect([foreign.status, foreign.text === text]).toEqual([201, false])
  expect([first.status, second.text]).toEqual([201, first.text])
})

test('C172 a key can be used again after 24 hours', async () => {
  const first = await api.post('/v1/services', serviceBody(), keyed('day'))
  nowMs += DAY_MS - 1
  const remembered = await api.post('/v1/services', serviceBody(), keyed('day'))
  nowMs += 1
  const forgotten = await api.post('/v1/services', serviceBody(), keyed('day'))

  expect(remembered.text).toBe(first.text)
  expect([forgotten.status, forgotten.text === first.text]).toEqual([201, false])
})

test('C172 a refused creation is not remembered', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })
  await server.overrideLimits({ servicesMax: 0 }, orgId)
  const refused = await api.post('/v1/services', serviceBody(), { ...keyed('later'), key })
  await server.overrideLimits({ servicesMax: 1 }, orgId)

  const accepted = await api.post('/v1/services', serviceBody(), { ...keyed('later'), key })

  expect([refused.status, accepted.status]).toEqual([403, 201])
})

test('C172 a key is remembered across a restart', async () => {
  const parent = testFolder()
  const dataDir = join(parent, 'data')
  const first = await startServer({ dataDir })
  const created = await apiClient(first.url, first.apiKey).post('/v1/services', serviceBody(), keyed('k'))
  await first.close()

  const second = await startServer({ dataDir })
  const repeated = await apiClient(second.url, first.apiKey).post('/v1/services', serviceBody(), keyed('k'))
  await second.close()

  expect(repeated.text).toBe(created.text)
})

test.each(['', 'a b', 'é', 'x'.repeat(256)])('C172 the key %j is 400', async (key) => {
  expect((await api.post('/v1/services', serviceBody(), keyed(key))).status).toBe(400)
})

test('C173 a service has an ETag that changes with it, and a replace or delete with an older one is 412', async () => {
  const created = await api.post('/v1/services', serviceBody())
  const { id } = serviceResponseSchema.parse(created.json)
  const path = `/v1/services/${id}`
  const ifMatch = (tag: string) => ({ headers: { 'if-match': tag } })
  const old = String(created.headers.etag)

  const replaced = await api.patch(path, serviceBody({ name: 'Two' }), ifMatch(old))
  const stale = await api.patch(path, serviceBody({ name: 'Three' }), ifMatch(old))
  const staleDelete = await api.delete(path, ifMatch(old))
  const read = await api.get(path)

  expect([replaced.status, stale.status, staleDelete.status]).toEqual([200, 412, 412])
  expect([read.text, read.headers.etag]).toEqual([replaced.text, replaced.headers.etag])
  expect(read.headers.etag).not.toBe(old)
  expect((await api.patch(path, serviceBody(), ifMatch(`W/${read.headers.etag}`))).status).toBe(412)
  expect((await api.patch(path, serviceBody(), ifMatch('*'))).status).toBe(200)
  const { etag } = (await api.get(path)).headers
  expect((await api.delete(path, ifMatch(`"x", ${etag}`))).status).toBe(204)
})
