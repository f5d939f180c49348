import { afterAll, expect, test } from 'vitest'
import { orgSchema, regionSchema } from '../../../api/contract/org.ts'
import { REGIONS } from '../../domain/regions.ts'
import { apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

test('C039 the organisation has id, name, plan and scope and nothing else', async () => {
  const { json } = await api.get('/v1/org')

  expect(orgSchema.strict().parse(json)).toEqual({
    id: server.orgId,
    name: 'Acme',
    plan: 'business',
    scope: 'read_write',
  })
})

test('C039 the plans are free, starter, business and enterprise', async () => {
  const plans = await server.store.listPlans()

  expect(plans.map(({ name, hasApiAccess }) => [name, hasApiAccess])).toEqual([
    ['free', false],
    ['starter', false],
    ['business', true],
    ['enterprise', true],
  ])
})

test('C040 regions have code, city and country, and the list is not empty', async () => {
  const { json } = await api.get('/v1/regions')

  expect(regionSchema.strict().array().min(1).parse(json)).toEqual(REGIONS)
})

test('C041 the list of regions has the same bytes for every caller', async () => {
  const foreign = await server.createKey({ orgId: await server.createOrg() })
  const readOnly = await server.readOnlyKey()

  const texts = await Promise.all(
    [server.apiKey, foreign, readOnly].map(async (key) => (await api.get('/v1/regions', { key })).text),
  )

  expect(new Set(texts).size).toBe(1)
})

test('C042 every listed code is accepted in a service and no other', async () => {
  const all = await api.post('/v1/services', serviceBody({ regions: REGIONS.map(({ code }) => code) }))
  const other = await api.post('/v1/services', serviceBody({ regions: ['eu-north-9'] }))

  expect([all.status, other.status]).toEqual([201, 400])
})
