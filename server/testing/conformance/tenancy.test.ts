import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { apiClient } from '../apiClient.ts'
import { ROUTES, UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

/** One organisation of the matrix, with resources of its own. */
interface Tenant {
  readonly orgId: string
  readonly keys: Readonly<Record<'read_write' | 'read_only', string>>
  readonly serviceId: string
  readonly incidentId: string
}

async function tenant(name: string): Promise<Tenant> {
  const orgId = await server.createOrg({ name })
  const read_write = await server.createKey({ orgId })
  const read_only = await server.createKey({ orgId, scope: 'read_only' })
  const options = { key: read_write }
  const service = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody(), options)).json)
  const body = { title: name, message: 'x', severity: 'major_outage', service_ids: [service.id] }
  const incident = incidentSchema.parse((await api.post('/v1/incidents', body, options)).json)
  return { orgId, keys: { read_write, read_only }, serviceId: service.id, incidentId: incident.id }
}

let tenants: Readonly<Record<'A' | 'B', Tenant>>
beforeAll(async () => {
  tenants = { A: await tenant('A'), B: await tenant('B') }
})

/** A valid body for the route, with `serviceId` wherever it names services. */
function bodyOf(method: string, path: string, serviceId: string): unknown {
  if (method === 'GET' || method === 'DELETE') return undefined
  if (path.endsWith('/updates')) return { body: 'x', status: 'monitoring' }
  if (path.endsWith('/incidents')) {
    return { title: 'x', message: 'x', severity: 'major_outage', service_ids: [serviceId] }
  }
  return serviceBody()
}

describe.each(['A', 'B'] as const)('organisation %s', (own) => {
  const other = own === 'A' ? 'B' : 'A'

  describe.each(['read_write', 'read_only'] as const)('with a %s key', (scope) => {
    test.each(ROUTES.filter(([, path]) => path.includes(':id')))(
      '%s %s: a foreign and an unknown id are the same bytes',
      async (method, path) => {
        const key = tenants[own].keys[scope]
        const idOf = (of: Tenant) => (path.includes('incidents') ? of.incidentId : of.serviceId)
        const json = bodyOf(method, path, tenants[own].serviceId)
        const call = (id: string) => api.call(method, path.replace(':id', id), { key, json })

        const foreign = await call(idOf(tenants[other]))
        const unknown = await call(UNKNOWN_ID)

        expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text])
        expect(foreign.status).toBe(scope === 'read_only' && method !== 'GET' ? 403 : 404)
        if (method !== 'DELETE') {
          const reached = await call(idOf(tenants[own]))
          expect(reached.status).toBe(scope === 'read_only' && method !== 'GET' ? 403 : 200)
          expect(reached.text).not.toContain(tenants[other].orgId)
        }
      },
    )

    test('C025 lists and the organisation show nothing of another organisation', async () => {
      const key = tenants[own].keys[scope]
      const paths = ['/v1/org', '/v1/services', '/v1/incidents?section=active', '/v1/regions']

      const texts = await Promise.all(paths.map(async (path) => (await api.get(path, { key })).text))

      const { orgId, serviceId, incidentId } = tenants[other]
      expect([orgId, serviceId, incidentId].filter((id) => texts.join().includes(id))).toEqual([])
    })

    test('a service of another organisation in body or query gets the same bytes as an unknown one', async () => {
      const key = tenants[own].keys[scope]
      const post = (id: string) => api.post('/v1/incidents', bodyOf('POST', '/v1/incidents', id), { key })
      const list = (id: string) => api.get(`/v1/incidents?section=active&service_id=${id}`, { key })
      const { serviceId } = tenants[other]

      expect((await post(serviceId)).text).toBe((await post(UNKNOWN_ID)).text)
      expect((await list(serviceId)).text).toBe((await list(UNKNOWN_ID)).text)
    })
  })
})
