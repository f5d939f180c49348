import { afterAll, expect, test } from 'vitest'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

const server = await startServer({ rateLimit: 'none' })
afterAll(() => server.close())

/** A new organisation with a quota of 1 MiB for incidents, where an open one counts for some 81 KiB: twelve. */
async function newcomer() {
  const orgId = await server.createOrg()
  await server.overrideLimits({ incidentsMibMax: 1 }, orgId)
  const api = apiClient(server.url, await server.createKey({ orgId }))
  const { id } = serviceResponseSchema.parse((await api.post('/v1/services', serviceBody())).json)
  const open = (message = 'x') =>
    api.post('/v1/incidents', { title: 'x', message, severity: 'major_outage', service_ids: [id] })
  const update = (incident: ApiResponse, status: string, body = 'x') =>
    api.post(`/v1/incidents/${incidentSchema.parse(incident.json).id}/updates`, { body, status })
  return { orgId, open, update }
}

test('incidents beyond the size limit of the plan are 403, even concurrent ones, and a higher limit admits them', async () => {
  const { orgId, open } = await newcomer()

  const responses = await Promise.all(Array.from({ length: 20 }, () => open()))
  const refused = await open()
  await server.overrideLimits({ incidentsMibMax: 2 }, orgId)

  expect(responses.filter(({ status }) => status === 201).length).toBe(12)
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('plan limit: at most 1 MiB')])
  expect((await open()).status).toBe(201)
})

test('an incident at the size limit can always be resolved, even with the longest update, and that frees space', async () => {
  const { open, update } = await newcomer()
  const incidents = await Promise.all(Array.from({ length: 12 }, () => open()))
  const [first, ...others] = incidents
  if (first === undefined) throw new Error('none was opened')

  // Of four bytes each.
  const longest = '\u{1F525}'.repeat(20_000)
  const refused = await update(first, 'monitoring', longest)
  const resolved = await Promise.all(others.map((each) => update(each, 'resolved', longest)))
  const full = await open()
  const last = await update(first, 'resolved')

  expect([refused.status, full.status, last.status]).toEqual([403, 403, 200])
  expect(resolved.map(({ status }) => status)).toEqual(others.map(() => 200))
  expect((await open()).status).toBe(201)
})
