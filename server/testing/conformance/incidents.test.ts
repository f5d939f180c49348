import { afterAll, describe, expect, test } from 'vitest'
import { type Incident, incidentSchema, incidentUpdateRequestSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { apiClient } from '../apiClient.ts'
import { UNKNOWN_ID } from '../routes.ts'
import { serviceBody } from '../serviceBodies.ts'
import { startServer } from '../startServer.ts'

let nowMs = Date.parse('2026-01-01T00:00:00Z')
const server = await startServer({ rateLimit: 'none', environment: { nowMs: () => nowMs } })
const api = apiClient(server.url, server.apiKey)
afterAll(() => server.close())

async function createService(key = server.apiKey): Promise<string> {
  return serviceResponseSchema.parse((await api.post('/v1/services', serviceBody(), { key })).json).id
}

const serviceId = await createService()
const otherKey = await server.createKey({ orgId: await server.createOrg() })
const otherServiceId = await createService(otherKey)

function body(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    title: 'Checkout is slow',
    service_ids: [serviceId],
    message: 'We are looking.',
    severity: 'partial_outage',
    ...changes,
  }
}

async function open(changes: Record<string, unknown> = {}, key = server.apiKey): Promise<Incident> {
  return incidentSchema.parse((await api.post('/v1/incidents', body(changes), { key })).json)
}

function update(id: string, changes: Record<string, unknown> = {}) {
  return api.post(`/v1/incidents/${id}/updates`, { body: 'Found it.', status: 'identified', ...changes })
}

test('C127 a new incident has the status investigating, and its message is the first update', async () => {
  const { status, json } = await api.post('/v1/incidents', body())

  expect(status).toBe(201)
  const incident = incidentSchema.strict().parse(json)
  const now = new Date(nowMs).toISOString()
  expect(incident).toEqual({
    id: incident.id,
    kind: 'incident',
    title: 'Checkout is slow',
    status: 'investigating',
    severity: 'partial_outage',
    created_by: null,
    created_at: now,
    resolved_at: null,
    service_ids: [serviceId],
    display_id: incident.display_id,
    updated_at: now,
    auto_managed: false,
    updates: [
      {
        id: incident.updates[0]?.id,
        body: 'We are looking.',
        status_at_update: 'investigating',
        created_at: now,
      },
    ],
  })
})

test('C128 display ids count from 1 in each organisation, also for a hundred incidents at once', async () => {
  const key = await server.createKey({ orgId: await server.createOrg() })
  const service_ids = [await createService(key)]

  const incidents = await Promise.all(Array.from({ length: 100 }, () => open({ service_ids }, key)))

  const expected = Array.from({ length: 100 }, (_, index) => `INC-${index + 1}`)
  expect(incidents.map(({ display_id }) => display_id).toSorted()).toEqual(expected.toSorted())
})

test('a refused incident uses no number', async () => {
  const before = await open()

  await api.post('/v1/incidents', body({ service_ids: [otherServiceId] }))

  const numberOf = ({ display_id }: Incident) => Number(display_id.slice('INC-'.length))
  expect(numberOf(await open()) - numberOf(before)).toBe(1)
})

test.each([
  ['C129 no title', { title: undefined }],
  ['C129 an empty title', { title: '' }],
  ['C129 no severity', { severity: undefined }],
  ['C129 an unknown severity', { severity: 'critical' }],
  ['C129 no service_ids', { service_ids: undefined }],
  ['C129 empty service_ids', { service_ids: [] }],
  ['C129 no message', { message: undefined }],
  ['C130 an empty message', { message: '' }],
  ['C130 a message of blanks', { message: ' \n' }],
  ['C131 a service of another organisation', { service_ids: [otherServiceId] }],
  ['C131 an unknown service', { service_ids: [UNKNOWN_ID] }],
  ['C131 a service id that is not a UUID', { service_ids: ['x'] }],
  ['C131 a valid and an unknown service', { service_ids: [serviceId, UNKNOWN_ID] }],
])('%s gets 400 and nothing is stored', async (_name, changes) => {
  const before = await api.get('/v1/incidents?section=active&limit=1')

  expect((await api.post('/v1/incidents', body(changes))).status).toBe(400)
  expect((await api.get('/v1/incidents?section=active&limit=1')).text).toBe(before.text)
})

test('C131 the service of another organisation and an unknown one get the same bytes', async () => {
  const responses = [otherServiceId, UNKNOWN_ID].map((id) =>
    api.post('/v1/incidents', body({ service_ids: [id] })),
  )

  expect(new Set((await Promise.all(responses)).map(({ text }) => text)).size).toBe(1)
})

test('C132 a service named twice is listed once', async () => {
  expect((await open({ service_ids: [serviceId, serviceId.toUpperCase()] })).service_ids).toEqual([serviceId])
})

test('C133 C134 kind and the other fields set by the server cannot be sent', async () => {
  const { kind, status, created_by, auto_managed, display_id } = await open({
    kind: 'maintenance',
    status: 'resolved',
    created_by: 'me',
    auto_managed: true,
    display_id: 'INC-9999',
  })

  expect([kind, status, created_by, auto_managed]).toEqual(['incident', 'investigating', null, false])
  expect(display_id).not.toBe('INC-9999')
})

test('C135 reading an incident gives the same bytes, with updates in posting order even within one instant', async () => {
  const created = await api.post('/v1/incidents', body())
  const { id } = incidentSchema.parse(created.json)
  const read = await api.get(`/v1/incidents/${id}`)
  const bodies = ['one', 'two', 'three', 'four']
  for (const text of bodies) await update(id, { body: text })

  const { updates } = incidentSchema.parse((await api.get(`/v1/incidents/${id}`)).json)

  expect(read.text).toBe(created.text)
  expect(updates.map((each) => each.body)).toEqual(['We are looking.', ...bodies])
})

test('an incident keeps the id of a deleted service, and is found by it', async () => {
  const gone = await createService()
  const kept = await createService()
  const { id } = await open({ service_ids: [gone, kept] })
  await api.delete(`/v1/services/${gone}`)

  const read = incidentSchema.parse((await api.get(`/v1/incidents/${id}`)).json)
  const updated = incidentSchema.parse((await update(id)).json)
  const found = await api.get(`/v1/incidents?section=active&service_id=${gone}`)
  const refused = await api.post('/v1/incidents', body({ service_ids: [gone] }))

  expect([read.service_ids, updated.service_ids]).toEqual([
    [gone, kept],
    [gone, kept],
  ])
  expect(found.json).toMatchObject({ total: 1, items: [{ id }] })
  expect(refused.status).toBe(400)
})

describe('a maintenance window', async () => {
  const id = '11111111-2222-4333-8444-555555555555'
  await server.store.createMaintenance(
    {
      id,
      orgId: server.orgId,
      title: 'Checkout moves',
      startsAt: '2026-01-01',
      endsAt: '2026-01-02',
      serviceIds: [serviceId],
    },
    OPERATOR,
    nowMs,
  )

  test('C136 is 404 when read or updated, with the same bytes as an unknown id', async () => {
    const unknown = await api.get(`/v1/incidents/${UNKNOWN_ID}`)

    expect([(await api.get(`/v1/incidents/${id}`)).text, (await update(id)).status]).toEqual([
      unknown.text,
      404,
    ])
    expect(unknown.status).toBe(404)
  })

  test.each(['active', 'resolved'])('C136 is not in section %s', async (section) => {
    expect((await api.get(`/v1/incidents?section=${section}&q=moves`)).json).toMatchObject({ total: 0 })
  })
})

test('C137 another organisation’s incident is 404', async () => {
  const { id } = await open()

  expect((await api.get(`/v1/incidents/${id}`, { key: otherKey })).status).toBe(404)
  const foreign = await api.post(
    `/v1/incidents/${id}/updates`,
    { body: 'x', status: 'resolved' },
    { key: otherKey },
  )
  expect(foreign.status).toBe(404)
})

test.each(['investigating', 'identified', 'monitoring'])(
  'C138 C143 an update to %s is 200, sets the status and is appended',
  async (status) => {
    const before = await open()
    nowMs += 1_000

    const response = await update(before.id, { status })

    const after = incidentSchema.parse(response.json)
    const now = new Date(nowMs).toISOString()
    const appended = {
      id: after.updates[1]?.id,
      body: 'Found it.',
      status_at_update: status,
      created_at: now,
    }
    expect([response.status, after]).toEqual([
      200,
      { ...before, status, updated_at: now, updates: [...before.updates, appended] },
    ])
  },
)

test('C139 C140 a resolved incident is no longer active, has its resolution time, and accepts no update', async () => {
  const { id } = await open({ title: 'soon over' })

  const resolved = incidentSchema.parse((await update(id, { status: 'resolved' })).json)

  expect([resolved.status, resolved.resolved_at]).toEqual(['resolved', resolved.updated_at])
  expect((await api.get('/v1/incidents?section=active&q=soon over')).json).toMatchObject({ total: 0 })
  expect((await api.get('/v1/incidents?section=resolved&q=soon over')).json).toMatchObject({ total: 1 })
  for (const status of ['monitoring', 'resolved']) {
    const refused = await update(id, { status })
    expect([refused.status, refused.text]).toEqual([400, '{"error":"incident is already resolved"}'])
  }
})

test.each([
  { body: undefined },
  { body: '' },
  { status: undefined },
  { status: 'closed' },
  { severity: 'critical' },
])('C141 an update with %j is 400', async (changes) => {
  expect((await update((await open()).id, changes)).status).toBe(400)
})

test('C142 an update with a severity changes it, and one without keeps it', async () => {
  const { id } = await open()

  const changed = incidentSchema.parse((await update(id, { severity: 'major_outage' })).json)
  const kept = incidentSchema.parse((await update(id)).json)

  expect([changed.severity, kept.severity]).toEqual(['major_outage', 'major_outage'])
  expect(incidentUpdateRequestSchema.shape.severity.isOptional()).toBe(true)
})

test('a clock that was set back writes no update before the last one', async () => {
  const { id } = await open()
  nowMs -= 3_600_000

  const { updates, updated_at } = incidentSchema.parse((await update(id)).json)
  nowMs += 3_600_000

  expect([updates[1]?.created_at, updated_at]).toEqual([updates[0]?.created_at, updates[0]?.created_at])
})

test('the updates of an incident are at most 256 KiB together, and a resolving one is always accepted', async () => {
  const long = '€'.repeat(20_000)
  const { id } = await open({ message: long })
  for (let made = 1; made < 4; made += 1) await update(id, { body: long })

  const refused = await update(id, { body: long })
  const resolved = await update(id, { body: long, status: 'resolved' })

  expect([refused.status, refused.json]).toEqual([
    400,
    { error: expect.stringContaining('at most 256 KiB together: resolve it') },
  ])
  expect(incidentSchema.parse(resolved.json).updates.length).toBe(5)
})
