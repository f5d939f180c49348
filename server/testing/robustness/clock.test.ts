import { afterAll, beforeEach, expect, test } from 'vitest'
import { type Incident, incidentSchema } from '../../../api/contract/incident.ts'
import { type ServiceResponse, serviceResponseSchema } from '../../../api/contract/service.ts'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const HOUR_MS = 60 * 60 * 1_000
const START_MS = Date.parse('2026-01-01T00:00:00Z')
let nowMs = START_MS
const server = await startServer({ rateLimit: 'none', environment: { nowMs: () => nowMs } })
let api = apiClient(server.url, server.apiKey)
let services: ServiceResponse[] = []
let incidents: Incident[] = []
afterAll(() => server.close())
beforeEach(async () => {
  nowMs = START_MS
  services = []
  incidents = []
  api = apiClient(server.url, await server.createKey({ orgId: await server.createOrg() }))
})

async function ok(response: Promise<ApiResponse>): Promise<unknown> {
  const { status, json, text } = await response
  if (status >= 300) throw new Error(`a request got ${status}: ${text}`)
  return json
}

/** Creates and changes resources of every kind, at the current time of the clock. */
async function useEverything(): Promise<void> {
  const service = serviceResponseSchema.parse(await ok(api.post('/v1/services', serviceBody())))
  const path = `/v1/services/${service.id}`
  await ok(api.patch(path, serviceBody({ name: 'Cart' })))
  await ok(api.post(`${path}/pause`))
  services.push(serviceResponseSchema.parse(await ok(api.post(`${path}/resume`))))
  const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [service.id] }
  const incident = incidentSchema.parse(await ok(api.post('/v1/incidents', body)))
  const update = { body: 'y', status: 'monitoring' }
  incidents.push(incidentSchema.parse(await ok(api.post(`/v1/incidents/${incident.id}/updates`, update))))
  await server.store.tidy(nowMs)
}

test('jumps of the clock by an hour, to 1970 and to 2039 affect no request, no id and no order', async () => {
  const hours = [START_MS, START_MS + HOUR_MS, START_MS - HOUR_MS]
  const times = [...hours, 0, Date.parse('2039-01-01T00:00:00Z'), START_MS]

  for (const time of times) {
    nowMs = time
    await useEverything()
  }

  expect(services.map(({ created_at }) => created_at)).toEqual(times.map((ms) => new Date(ms).toISOString()))
  expect((await api.get('/v1/services')).json).toEqual(services)
  const listed = await api.get('/v1/incidents?section=active')
  expect(listed.json).toMatchObject({ items: incidents.toReversed(), total: times.length })
  expect(incidents.map(({ display_id }) => display_id)).toEqual(times.map((_, index) => `INC-${index + 1}`))
  const ready = await fetch(`${server.adminUrl}/readyz`)
  expect(ready.status).toBe(200)
})

test('resources from before a jump are found, changed and resolved after it, and no effect precedes its cause', async () => {
  nowMs = Date.parse('2039-01-01T00:00:00Z')
  await useEverything()
  const [service, incident] = [services.at(-1), incidents.at(-1)]
  nowMs = 0

  const resolved = incidentSchema.parse(
    await ok(api.post(`/v1/incidents/${incident?.id}/updates`, { body: 'z', status: 'resolved' })),
  )
  const replaced = await ok(api.patch(`/v1/services/${service?.id}`, serviceBody({ name: 'Later' })))

  const paused = serviceResponseSchema.parse(await ok(api.post(`/v1/services/${service?.id}/pause`)))

  expect(replaced).toEqual({ ...service, name: 'Later' })
  expect(paused.paused_at).toBe(service?.created_at)
  const instants = resolved.updates.map(({ created_at }) => created_at)
  expect(instants).toEqual(instants.toSorted())
  expect([resolved.resolved_at, resolved.updated_at]).toEqual([instants.at(-1), instants.at(-1)])
})
