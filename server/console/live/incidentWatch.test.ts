import { expect, onTestFinished, test } from 'vitest'
import { apiClient } from '../../testing/apiClient.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { startConsoleServer } from '../testing/startConsoleServer.ts'
import { IncidentWatch } from './incidentWatch.ts'

/** For a busy machine. */
const WAIT = { timeout: 30_000 }

test('incidents and maintenance windows of an organisation reach its pages, and no others', async () => {
  const server = await startConsoleServer()
  onTestFinished(() => server.close())
  const orgs = [server.orgId, await server.createOrg({ name: 'Other' })] as const
  const make = async (orgId: string) => {
    const api = apiClient(server.url, await server.createKey({ orgId }))
    const serviceId = String(Object((await api.post('/v1/services', serviceBody())).json).id)
    const incident = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [serviceId] }
    return { api, serviceId, open: async () => Object((await api.post('/v1/incidents', incident)).json).id }
  }
  const [own, other] = [await make(orgs[0]), await make(orgs[1])]
  const reads: string[] = []
  const store: ConstructorParameters<typeof IncidentWatch>[0]['store'] = {
    changeCount: () => server.store.changeCount(),
    listMaintenance: (orgId, which) => server.store.listMaintenance(orgId, which),
    openIncidents: async (orgId) => {
      const found = await server.store.openIncidents(orgId)
      reads.push(orgId)
      return found
    },
  }
  const watch = new IncidentWatch({ store, environment: { nowMs: Date.now }, checkMs: 5 })
  const told: (readonly string[])[] = []
  const ends = [0, 1].map(() => watch.onChange(orgs[0], (ids) => told.push([...ids])))
  onTestFinished(() => {
    for (const end of ends) end()
  })
  await expect.poll(() => reads, WAIT).toContain(orgs[0])

  await other.open()
  const id = await own.open()
  await expect.poll(() => told, WAIT).toHaveLength(2)
  await own.api.post(`/v1/incidents/${id}/updates`, { body: 'x', status: 'resolved' })
  await expect.poll(() => told, WAIT).toHaveLength(4)
  ends[1]?.()
  const window = { id: crypto.randomUUID(), orgId: orgs[0], title: 'x', serviceIds: [own.serviceId] }
  const times = { startsAt: '2090-01-01T00:00:00.000Z', endsAt: '2090-01-02T00:00:00.000Z' }
  await server.store.createMaintenance({ ...window, ...times }, { kind: 'cli' }, Date.now())
  await expect.poll(() => told, WAIT).toHaveLength(5)

  expect(told).toEqual(Array(5).fill([own.serviceId]))
  expect(new Set(reads)).toEqual(new Set([orgs[0]]))
})
