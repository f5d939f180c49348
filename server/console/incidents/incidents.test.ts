import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiClient } from '../../testing/apiClient.ts'
import { runHere } from '../../testing/commandHere.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { type ConsoleServer, startConsoleServer } from '../testing/startConsoleServer.ts'

const SCRIPT = `<script>alert(1)</script>"'>`

let server: ConsoleServer
let serviceId: string

beforeAll(async () => {
  server = await startConsoleServer()
  const created = await apiClient(server.url, server.apiKey).post('/v1/services', serviceBody())
  // True because a created service has an id.
  serviceId = (created.json as { readonly id: string }).id
})
afterAll(() => server.close())

const openForm = (title = 'Checkout fails') =>
  new URLSearchParams({ title, message: 'We look.', severity: 'major_outage', service_ids: serviceId })

const incidentActs = async () =>
  (await server.store.listAudit(server.orgId, 1_000)).filter(({ targetKind }) => targetKind === 'incident')

test('texts of any script may be as long as in the API', async () => {
  const { client, actions } = await server.signIn('member')
  const text = '\u{1f525}'.repeat(20_000)
  const form = openForm('火'.repeat(500))
  form.set('message', text)
  const opened = await client.post(`${actions}/incidents`, form)
  const incidentId = opened.location.split('/').at(-1) ?? ''
  const update = { seen: '1', status: 'monitoring', severity: 'major_outage', body: text }
  const posted = await client.post(`${actions}/incidents/${incidentId}/updates`, update)

  expect([opened.status, posted.status]).toEqual([303, 303])
})

test('a page beyond the last one shows the last one', async () => {
  const { client, actions, root } = await server.signIn('member')
  await client.post(`${actions}/incidents`, openForm('Still open'))
  const { text } = await client.get(`${root}/incidents?page=7`)

  expect(text).toContain('Still open')
})

test('an incident is opened, updated and resolved in the console, which shows its authors, and is an ordinary incident in the API', async () => {
  const { client, actions, root, email, id } = await server.signIn('member')
  const opened = await client.post(`${actions}/incidents`, openForm())
  const incidentId = opened.location.split('/').at(-1) ?? ''
  const api = apiClient(server.url, server.apiKey)
  const byKey = await api.post(`/v1/incidents/${incidentId}/updates`, {
    body: 'By key',
    status: 'identified',
  })
  const update = {
    seen: '2',
    status: 'resolved',
    severity: 'partial_outage',
    body: 'Fixed.\r\nSee https://a.example',
  }
  const asked = await client.post(`${actions}/incidents/${incidentId}/updates`, update)
  const stillOpen = (await api.get(`/v1/incidents/${incidentId}`)).json
  const posted = await client.post(`${actions}/incidents/${incidentId}/updates`, {
    ...update,
    resolve: 'yes',
  })
  const page = await client.get(opened.location)
  const seen = (await api.get(`/v1/incidents/${incidentId}`)).json

  expect([opened.status, byKey.status, posted.status, posted.location]).toEqual([
    303,
    200,
    303,
    opened.location,
  ])
  expect([asked.status, Object(stillOpen).status]).toEqual([422, 'identified'])
  expect(asked.text).toContain('Post again to resolve it')
  expect(asked.text).toContain('<input type="hidden" name="resolve" value="yes">')
  expect(asked.text).toContain('See https://a.example')
  expect(page.text).toContain(`by <bdi>${email}</bdi>`)
  expect(page.text).toContain(`by <bdi>API key …${server.apiKey.slice(-4)}</bdi>`)
  expect(page.text).toContain('<a href="https://a.example/" rel="nofollow noopener noreferrer">')
  expect(page.text).not.toContain('Post update')
  expect(seen).toMatchObject({ created_by: null, status: 'resolved', severity: 'partial_outage' })
  expect(JSON.stringify(seen)).toContain('Fixed.\\nSee')
  expect((await incidentActs()).slice(0, 3).map(({ action, actor }) => [action, actor])).toEqual([
    ['incident.update', id],
    ['incident.update', expect.any(String)],
    ['incident.create', id],
  ])
  expect((await client.get(`${root}/incidents?section=resolved&q=checkout`)).text).toContain(incidentId)
  expect((await client.get(`${root}/incidents?section=active&q=checkout`)).text).not.toContain(incidentId)
})

test('an invalid form is shown again with the entered values, and writes nothing', async () => {
  const { client, actions } = await server.signIn('member')
  const before = await incidentActs()
  const typed = new URLSearchParams({ title: '', message: `Kept ${SCRIPT}`, severity: 'wrong' })
  const refused = await client.post(`${actions}/incidents`, typed)
  const foreign = openForm()
  foreign.set('service_ids', crypto.randomUUID())
  const unknown = await client.post(`${actions}/incidents`, foreign)

  expect([refused.status, unknown.status]).toEqual([422, 422])
  expect(refused.text).toContain('Kept &lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;')
  expect(refused.text.match(/aria-invalid="true"/g)).toHaveLength(3)
  expect(unknown.text).toContain('Must name services of this organisation only')
  expect(await incidentActs()).toEqual(before)
})

test('an update from an outdated form is refused with the newer update and the kept text', async () => {
  const { client, actions } = await server.signIn('member')
  const opened = await client.post(`${actions}/incidents`, openForm('Two people'))
  const post = `${actions}/incidents/${opened.location.split('/').at(-1)}/updates`
  const form = (body: string) => ({ seen: '1', status: 'identified', severity: 'major_outage', body })
  const first = await client.post(post, form('The first'))
  const second = await client.post(post, form('The second'))

  expect([first.status, second.status]).toEqual([303, 409])
  expect(second.text).toContain('The first')
  expect(second.text).toContain('The second</textarea>')
  expect(second.text).toContain('name="seen" value="2"')
  expect((await client.get(opened.location)).text).not.toContain('The second')
})

test('an update that resolves an incident notices the update of another person', async () => {
  const { client, actions } = await server.signIn('member')
  const opened = await client.post(`${actions}/incidents`, openForm('Resolved by one'))
  const post = `${actions}/incidents/${opened.location.split('/').at(-1)}/updates`
  const form = { status: 'identified', severity: 'major_outage', body: 'Text' }
  await client.post(post, { ...form, seen: '1' })
  const asked = await client.post(post, { ...form, seen: '1', status: 'resolved' })
  const confirmed = await client.post(post, {
    ...form,
    seen: /name="seen" value="(\d+)"/.exec(asked.text)?.[1] ?? '',
    ...{ status: 'resolved', resolve: 'yes' },
  })

  expect([asked.status, confirmed.status]).toEqual([422, 409])
})

test('the text of an update is kept when the incident was resolved meanwhile', async () => {
  const { client, actions } = await server.signIn('member')
  const opened = await client.post(`${actions}/incidents`, openForm('Resolved meanwhile'))
  const post = `${actions}/incidents/${opened.location.split('/').at(-1)}/updates`
  const form = { seen: '1', severity: 'major_outage' }
  await client.post(post, { ...form, status: 'resolved', resolve: 'yes', body: 'Fixed.' })
  const late = await client.post(post, { ...form, status: 'monitoring', body: 'Long text' })

  expect(late.status).toBe(409)
  expect(late.text).toContain('Your update was not posted')
  expect(late.text).toContain('Long text')
  expect((await client.get(opened.location)).text).not.toContain('Long text')
})

test('texts of people are escaped in the list and in the incident', async () => {
  const { client, actions, root } = await server.signIn('member')
  const form = openForm(SCRIPT)
  form.set('message', `${SCRIPT} javascript:alert(1)`)
  const opened = await client.post(`${actions}/incidents`, form)

  for (const path of [opened.location, `${root}/incidents`]) {
    const { text } = await client.get(path)
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('href="javascript')
    expect(text).toContain('&lt;script&gt;alert(1)')
  }
})

test('an incident says which pages show it, and can be hidden there and shown again', async () => {
  const args = [
    '--org',
    server.orgId,
    '--slug',
    'shop-status',
    '--title',
    'Shop <status>',
    '--service',
    `${serviceId}=Checkout`,
  ]
  const made = await runHere(['status-page', 'create', ...args, '--json', ...server.flags])
  const pageId = JSON.parse(made.stdout).id
  const { client, actions } = await server.signIn('member')
  const viewer = await server.signIn('viewer')
  const opened = await client.post(`${actions}/incidents`, openForm('Shown'))
  const form = { incident: opened.location.split('/').at(-1) ?? '' }
  const before = await client.get(opened.location)
  const hidden = await client.post(`${actions}/pages/${pageId}/hide-incident`, form)
  const between = await client.get(opened.location)
  await client.post(`${actions}/pages/${pageId}/show-incident`, form)
  const after = await client.get(opened.location)
  const seen = await viewer.client.get(opened.location)

  expect(hidden.status).toBe(303)
  expect(before.text).toContain('shown on <bdi>Shop &lt;status&gt;</bdi>')
  expect(between.text).toContain('shown on no public page')
  expect(between.text).toContain('(hidden)')
  expect(after.text).not.toContain('(hidden)')
  expect(seen.text).not.toContain('<button>Hide')
  expect(seen.text).not.toContain('Post update')
})
