import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { hashKey } from '../../domain/apiKeys.ts'
import { apiClient } from '../apiClient.ts'
import { rawExchange } from '../rawExchange.ts'
import { ROUTES, UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
const readOnly = apiClient(server.url, await server.readOnlyKey())
const UNAUTHORIZED = '{"error":"unauthorized"}'
const hex = server.apiKey.slice('pharos_'.length)
afterAll(() => server.close())

function statusWith(authorization: string): Promise<number> {
  return api.get('/v1/org', { key: null, headers: { authorization } }).then(({ status }) => status)
}

test.each(ROUTES)('C001 %s %s without a key gets 401 and nothing else', async (method, path) => {
  const response = await api.call(method, path.replace(':id', UNKNOWN_ID), { key: null })

  expect([response.status, response.text]).toEqual([401, UNAUTHORIZED])
})

test.each([
  ['C002 another scheme', `Basic ${server.apiKey}`],
  ['C003 another prefix', `Bearer other_${hex}`],
  ['C004 63 digits', `Bearer pharos_${hex.slice(1)}`],
  ['C004 65 digits', `Bearer pharos_${hex}0`],
  ['C005 a letter that is not a hex digit', `Bearer pharos_g${hex.slice(1)}`],
  ['C006 an unknown key', `Bearer pharos_${randomBytes(32).toString('hex')}`],
  ['C006 a key in another case than it was created in', `Bearer pharos_${hex.toUpperCase()}`],
  ['C008 two blanks', `Bearer  ${server.apiKey}`],
  ['C008 a tab', `Bearer\t${server.apiKey}`],
  ['C008 text after the key', `Bearer ${server.apiKey} x`],
])('%s gets 401', async (_name, authorization) => {
  expect(await statusWith(authorization)).toBe(401)
})

async function revoke(key: string): Promise<void> {
  const keys = await server.store.listKeys(server.orgId)
  await server.store.revokeKey({
    ...{ id: keys.find(({ last4 }) => last4 === key.slice(-4))?.id ?? '', by: { kind: 'cli' }, nowMs: 0 },
  })
}

test('C007 a revoked key gets 401 at its next request', async () => {
  const key = await server.createKey()
  const before = await api.get('/v1/org', { key })

  await revoke(key)

  expect([before.status, (await api.get('/v1/org', { key })).status]).toEqual([200, 401])
})

test('C008 the authorization scheme is case-insensitive', async () => {
  expect(await statusWith(`bearer ${server.apiKey}`)).toBe(200)
  expect(await statusWith(`BEARER ${server.apiKey}`)).toBe(200)
})

test('C009 two Authorization headers get 401', async () => {
  const line = `Authorization: Bearer ${server.apiKey}\r\n`

  const response = await rawExchange(
    server.url,
    `GET /v1/org HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`,
  )

  expect(response.status).toBe(401)
})

test('C010 a key in the query string or a cookie gets 401', async () => {
  const inQuery = await api.get(`/v1/org?api_key=${server.apiKey}`, { key: null })
  const inCookie = await api.get('/v1/org', { key: null, headers: { cookie: `key=${server.apiKey}` } })

  expect([inQuery.status, inCookie.status]).toEqual([401, 401])
})

test('C011 a 401 has the same bytes whatever is wrong with the key', async () => {
  const revoked = await server.createKey()
  await revoke(revoked)
  const responses = await Promise.all([
    api.get('/v1/org', { key: null }),
    api.get('/v1/org', { key: 'nonsense' }),
    api.get('/v1/org', { key: `pharos_${'0'.repeat(64)}` }),
    api.get('/v1/org', { key: revoked }),
  ])

  expect(responses.map(({ text, headers }) => [text, headers['www-authenticate']])).toEqual(
    responses.map(() => [UNAUTHORIZED, 'Bearer']),
  )
})

test('C012 an unknown path is 401 without a key and 404 with one', async () => {
  expect((await api.get('/v1/nothing', { key: null })).status).toBe(401)
  expect((await api.get('/v1/nothing')).status).toBe(404)
})

describe('with a read_only key', () => {
  test.each(ROUTES.filter(([method]) => method === 'GET'))('C013 %s %s works', async (method, path) => {
    const expected = path.includes(':id') ? 404 : 200

    expect((await readOnly.call(method, path.replace(':id', UNKNOWN_ID))).status).toBe(expected)
  })

  test.each(ROUTES.filter(([method]) => method !== 'GET'))('C014 %s %s gets 403', async (method, path) => {
    const { status } = await readOnly.call(method, path.replace(':id', UNKNOWN_ID), { json: serviceBody() })

    expect(status).toBe(403)
  })

  test('C015 an invalid body gets 403, not 400', async () => {
    expect((await readOnly.post('/v1/services', { name: 1 })).status).toBe(403)
  })

  test('C016 deleting an unknown id gets 403, not 404', async () => {
    expect((await readOnly.delete(`/v1/services/${UNKNOWN_ID}`)).status).toBe(403)
  })

  test('C017 a POST to an unknown path gets 403', async () => {
    expect((await readOnly.post('/v1/nothing', {})).status).toBe(403)
  })
})

test('C018 GET /v1/org shows the scope of the key in use', async () => {
  const scopes = [await api.get('/v1/org'), await readOnly.get('/v1/org')].map(({ json }) => json)

  const org = { id: server.orgId, name: 'Acme', plan: 'business' }
  expect(scopes).toEqual([
    { ...org, scope: 'read_write' },
    { ...org, scope: 'read_only' },
  ])
})

test('C019 C020 a plan without API access gets 403 everywhere, and the same key works again after', async () => {
  const orgId = await server.createOrg()
  const key = await server.createKey({ orgId })

  await server.store.setPlan(orgId, 'starter')
  const refused = await Promise.all(
    ROUTES.map(([method, path]) => api.call(method, path.replace(':id', UNKNOWN_ID), { key })),
  )
  await server.store.setPlan(orgId, 'business')

  expect(refused.map(({ status }) => status)).toEqual(ROUTES.map(() => 403))
  expect((await api.get('/v1/regions', { key })).status).toBe(200)
})

test.each([
  ['no person', null],
  ['a person who has left', 'gone@example.com'],
])('C021 a key requested by %s works like any other, and does not show it', async (_who, createdBy) => {
  const key = `pharos_${randomBytes(32).toString('hex')}`
  await server.store.createKey({
    ...{ note: null, by: { kind: 'cli' } },
    id: randomUUID(),
    orgId: server.orgId,
    scope: 'read_write',
    hash: hashKey(key),
    last4: key.slice(-4),
    createdBy,
    nowMs: 0,
  })

  const org = await api.get('/v1/org', { key })
  const created = await api.post('/v1/services', serviceBody(), { key })

  expect(org.text).toBe((await api.get('/v1/org')).text)
  expect([created.status, created.json]).toMatchObject([201, { created_by_email: null }])
})

test.each(['keys', 'api-keys', 'channels', 'members', 'billing', 'events', 'webhooks'])(
  'C023 C153 /v1/%s gets 404',
  async (name) => {
    expect((await api.get(`/v1/${name}`)).status).toBe(404)
    expect((await api.post(`/v1/${name}`, {})).status).toBe(404)
  },
)
