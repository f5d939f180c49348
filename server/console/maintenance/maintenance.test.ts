import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { timestamp } from '../../domain/environment.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { type ConsoleServer, startConsoleServer } from '../testing/startConsoleServer.ts'

let server: ConsoleServer
let serviceId: string

beforeAll(async () => {
  server = await startConsoleServer()
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  serviceId = String(Object(json).id)
})
afterAll(() => server.close())

const windows = async (title: string) =>
  (await server.store.listMaintenance(server.orgId)).filter((window) => window.title === title)

test('a maintenance window is created, changed and cancelled, and each change is recorded with the person', async () => {
  const { client, actions, root, id } = await server.signIn('member')
  const form = {
    title: 'Upgrade <db>',
    services: serviceId,
    from: '2090-01-01T10:00',
    to: '2090-01-01T11:00',
  }
  const created = await client.post(`${actions}/maintenance`, form)
  const [window] = await windows('Upgrade <db>')
  const list = await client.get(`${root}/maintenance`)
  const later = { ...form, to: '2090-01-01T12:30' }
  const page = await client.get(`${root}/maintenance/${window?.id}`)
  const seen = /name="seen" value="([\w-]+)"/.exec(page.text)?.[1] ?? ''
  const changed = await client.post(`${actions}/maintenance/${window?.id}/change`, { ...later, seen })
  const outdated = await client.post(`${actions}/maintenance/${window?.id}/change`, {
    ...{ ...form, title: 'Other title', to: '2090-01-01T13:00', seen },
  })
  const [after] = await windows('Upgrade <db>')
  const cancelled = await client.post(`${actions}/maintenance/${window?.id}/cancel`)
  const acts = (await server.store.listAudit(server.orgId, 100)).filter(
    ({ targetId }) => targetId === window?.id,
  )

  expect([created.status, changed.status, cancelled.status]).toEqual([303, 303, 303])
  expect(outdated.status).toBe(409)
  expect(outdated.text).toContain('value="Other title"')
  expect(outdated.text).toContain('The window has changed since you opened it')
  expect(outdated.text).toContain('1 Jan 2090, 12:30 UTC')
  expect(list.text).toContain('Upgrade &lt;db&gt;')
  expect([window?.endsAt, after?.endsAt]).toEqual(['2090-01-01T11:00:00.000Z', '2090-01-01T12:30:00.000Z'])
  expect(after?.serviceIds).toEqual([serviceId])
  expect(await windows('Upgrade <db>')).toEqual([])
  expect(acts.map(({ action, actor }) => [action, actor])).toEqual([
    ['maintenance.cancel', id],
    ['maintenance.update', id],
    ['maintenance.create', id],
  ])
})

test('a new title does not move a window that starts and ends between minutes', async () => {
  const { client, actions, root } = await server.signIn('member')
  const id = crypto.randomUUID()
  const times = { startsAt: '2092-01-01T10:00:30.000Z', endsAt: '2092-01-01T11:00:30.000Z' }
  const window = { id, orgId: server.orgId, title: 'Seconds', serviceIds: [serviceId], ...times }
  await server.store.createMaintenance(window, { kind: 'cli' }, Date.now())
  const { text } = await client.get(`${root}/maintenance/${id}`)
  const fieldIn = (name: string): string =>
    new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1] ?? ''
  const { status } = await client.post(`${actions}/maintenance/${id}/change`, {
    ...{ title: 'Renamed', services: serviceId, seen: fieldIn('seen') },
    ...{ from: fieldIn('from'), to: fieldIn('to') },
  })

  expect(status).toBe(303)
  expect(await windows('Renamed')).toEqual([expect.objectContaining(times)])
})

test('a window with a mistake does not replace the change of another person once it is corrected', async () => {
  const { client, actions, root } = await server.signIn('member')
  const times = { from: '2091-01-01T10:00', to: '2091-01-01T11:00' }
  const form = { title: 'Corrected', services: serviceId, ...times }
  await client.post(`${actions}/maintenance`, form)
  const [window] = await windows('Corrected')
  const seenIn = (text: string): string => /name="seen" value="([\w-]+)"/.exec(text)?.[1] ?? ''
  const seen = seenIn((await client.get(`${root}/maintenance/${window?.id}`)).text)
  const change = (changes: Record<string, string>) =>
    client.post(`${actions}/maintenance/${window?.id}/change`, { ...form, ...changes })
  await change({ to: '2091-01-01T12:00', seen })
  const faulty = await change({ to: '2091-01-01T09:00', seen })
  const corrected = await change({ to: '2091-01-01T13:00', seen: seenIn(faulty.text) })

  expect([faulty.status, corrected.status]).toEqual([422, 409])
  expect((await windows('Corrected'))[0]?.endsAt).toBe('2091-01-01T12:00:00.000Z')
})

test('a maintenance window in progress is ended, not cancelled', async () => {
  const { client, actions, root } = await server.signIn('member')
  const form = { title: 'Now', services: serviceId, from: '2020-01-01T10:00', to: '2090-01-01T11:00' }
  await client.post(`${actions}/maintenance`, form)
  const [window] = await windows('Now')
  const cancelled = await client.post(`${actions}/maintenance/${window?.id}/cancel`)
  const ended = await client.post(`${actions}/maintenance/${window?.id}/end`)
  const [after] = await windows('Now')
  const { text } = await client.get(`${root}/maintenance/${window?.id}`)
  const seen = /name="seen" value="([\w-]+)"/.exec(text)?.[1] ?? ''
  const changed = await client.post(`${actions}/maintenance/${window?.id}/change`, { ...form, seen })

  expect([cancelled.status, ended.status, changed.status]).toEqual([422, 303, 422])
  expect(Date.parse(after?.endsAt ?? '')).toBeLessThanOrEqual(Date.now())
})

test('a window that has not begun is not ended, and the response says so', async () => {
  const { client, actions } = await server.signIn('member')
  const times = { from: '2090-01-01T10:00', to: '2090-01-02T10:00' }
  await client.post(`${actions}/maintenance`, { title: 'Early', services: serviceId, ...times })
  const [window] = await windows('Early')
  const { status, text } = await client.post(`${actions}/maintenance/${window?.id}/end`)

  expect([status, await windows('Early')]).toEqual([422, [window]])
  expect(text).toContain('The window has not begun: cancel it instead.')
})

test('an invalid form is shown again with the entered values, and writes nothing', async () => {
  const { client, actions } = await server.signIn('member')
  const before = await windows('Kept')
  const form = { title: 'Kept', services: crypto.randomUUID(), from: '2090-02-31T10:00', to: 'soon' }
  const refused = await client.post(`${actions}/maintenance`, form)
  const reversed = { title: 'Kept', services: serviceId, from: '2090-01-02T10:00', to: '2090-01-01T10:00' }
  const backwards = await client.post(`${actions}/maintenance`, reversed)

  expect([refused.status, backwards.status]).toEqual([422, 422])
  expect(refused.text).toContain('value="Kept"')
  expect(refused.text.match(/aria-invalid="true"/g)).toHaveLength(3)
  expect(backwards.text).toContain('The end must be after the start')
  expect(await windows('Kept')).toEqual(before)
})

test('an organisation has at most 200 pending windows, and the page shows the 100 that ended last', async () => {
  const orgId = await server.createOrg({ name: 'Busy' })
  const { json } = await apiClient(server.url, await server.createKey({ orgId })).post(
    '/v1/services',
    serviceBody(),
  )
  const own = String(Object(json).id)
  const { client, actions, root } = await server.signIn('member', { orgId })
  const window = (title: string, year: number, id: number) =>
    server.store.createMaintenance(
      {
        ...{ id: crypto.randomUUID(), orgId, title, serviceIds: [own] },
        startsAt: timestamp(Date.UTC(year, 0, 1, 0, id)),
        endsAt: timestamp(Date.UTC(year, 0, 1, 1, id)),
      },
      { kind: 'cli' },
      Date.now(),
    )
  for (let index = 0; index < 101; index += 1) await window(`Past ${index}.`, 2020, index)
  for (let index = 0; index < 199; index += 1) await window('Coming', 2090, index)
  const form = { title: 'Last', services: own, from: '2090-01-01T10:00', to: '2090-01-01T11:00' }
  const responses = [
    await client.post(`${actions}/maintenance`, form),
    await client.post(`${actions}/maintenance`, form),
  ]
  const { text } = await client.get(`${root}/maintenance`)

  expect(responses.map(({ status }) => status)).toEqual([303, 422])
  expect(responses[1]?.text).toContain('at most 200 maintenance windows that have not ended')
  expect([
    text.includes('Past 0.'),
    text.match(/>Past \d+\./g)?.[0],
    text.match(/>Past \d+\./g)?.length,
    text.includes('The newest 100.'),
  ]).toEqual([...[false, '>Past 100.', 100, true]])
})

test('a service in overlapping windows is in maintenance since the first of them began', async () => {
  const { json } = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  const id = String(Object(json).id)
  const window = {
    orgId: server.orgId,
    title: 'Overlap',
    endsAt: '2090-01-01T00:00:00.000Z',
    serviceIds: [id],
  }
  for (const startsAt of ['2020-01-01T10:00:00.000Z', '2020-01-02T10:00:00.000Z']) {
    await server.store.createMaintenance({ ...window, id: randomUUID(), startsAt }, OPERATOR, Date.now())
  }
  const { client, root } = await server.signIn('viewer')

  const { text } = await client.get(`${root}/services/${id}`)

  expect(text).toContain('since <time datetime="2020-01-01T10:00:00.000Z">')
})
