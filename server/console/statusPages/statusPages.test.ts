import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { apiClient } from '../../testing/apiClient.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { type ConsoleServer, startConsoleServer, type TestPerson } from '../testing/startConsoleServer.ts'

let server: ConsoleServer
let member: TestPerson
let checkout: string
let search: string

beforeAll(async () => {
  server = await startConsoleServer({ status: {} })
  member = await server.signIn('member')
  const api = apiClient(server.url, server.apiKey)
  const create = async (name: string) =>
    String(Object((await api.post('/v1/services', serviceBody({ name }))).json).id)
  checkout = await create('svc-checkout')
  search = await create('svc-search')
})
afterAll(() => server.close())

/** Fields of a form as they stand in a page, without its buttons. */
function fieldsIn(page: string): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [input] of page.matchAll(/<input [^>]*>/g)) {
    const [, name] = / name="([^"]*)"/.exec(input) ?? []
    const [, value = ''] = / value="([^"]*)"/.exec(input) ?? []
    const isOff = input.includes('type="checkbox"') && !input.includes(' checked')
    if (name !== undefined && !isOff) fields.append(name, value)
  }
  for (const [, name = '', value = ''] of page.matchAll(
    /<textarea id="[^"]*" name="([^"]*)"[^>]*>\n([^<]*)</g,
  )) {
    fields.set(name, value)
  }
  const [, incidents = ''] = /name="incidents"[^>]*>.*?value="([^"]*)" selected/s.exec(page) ?? []
  fields.set('incidents', incidents)
  return fields
}

/** Presses a button of an editor: sends what the page holds, with `changes`. */
async function press(page: string, path: string, changes: Readonly<Record<string, string>>) {
  const fields = fieldsIn(page)
  for (const [name, value] of Object.entries(changes)) fields.set(name, value)
  return member.client.post(path, fields)
}

const listed = async (id: string) =>
  (await server.store.getStatusPage(id)).sections.map(({ name, components }) => [
    name,
    ...components.map(({ name: publicName, text, showsUptime }) => [publicName, text, showsUptime]),
  ])

/** A new page of both services, made by buttons alone. */
async function makePage(slug: string): Promise<string> {
  const path = `${member.actions}/pages`
  let { text } = await member.client.get(`${member.root}/pages/new`)
  const press1 = async (changes: Readonly<Record<string, string>>): Promise<void> => {
    text = (await press(text, path, changes)).text
  }
  await press1({ title: 'Example', slug, do: 'service', added: checkout })
  await press1({ do: 'section' })
  await press1({ 'name-1': 'Find', do: 'service', added: search })
  const { location } = await press(text, path, { do: 'save' })
  return location.split('/').at(-1) ?? ''
}

test('the line that a button added, moved or removed gets the focus', async () => {
  const path = `${member.actions}/pages`
  const lines = { 'kind-0': 'section', 'name-0': 'A', 'kind-1': 'section', 'name-1': 'B' }
  const focused = async (pressed: string): Promise<string | undefined> => {
    const { text } = await member.client.post(path, { ...lines, do: pressed, added: checkout })
    return /data-focus>.*?name="kind-(\d)"/s.exec(text)?.[1]
  }

  expect([await focused('up:1'), await focused('down:0'), await focused('service')]).toEqual(['0', '1', '2'])
  expect([await focused('remove:1'), await focused('section'), await focused('save')]).toEqual([
    '0',
    '2',
    undefined,
  ])
})

test('a status page is composed with buttons, saved, published, changed and deleted', async () => {
  const id = await makePage('first')
  const made = await listed(id)
  const { text: page } = await member.client.get(`${member.root}/pages/${id}`)
  const path = `${member.actions}/pages/${id}/save`
  const moved = await press(page, path, { do: 'up:2', 'name-0': 'Checkout', 'text-0': 'Carts and payment' })
  const hidden = fieldsIn(moved.text)
  hidden.delete('uptime-1')
  hidden.set('do', 'save')
  const saved = await member.client.post(path, hidden)
  const seen = await fetch(`${server.statusUrl}/s/first`)
  const shown = await seen.text()
  const deleted = await member.client.post(`${member.actions}/pages/${id}/delete`)
  await vi.waitUntil(async () => (await fetch(`${server.statusUrl}/s/first`)).status === 404, {
    timeout: 30_000,
  })
  const acts = (await server.store.listAudit(server.orgId, 100)).filter(({ targetId }) => targetId === id)

  expect(made).toEqual([
    ['', ['svc-checkout', '', true]],
    ['Find', ['svc-search', '', true]],
  ])
  expect([moved.status, saved.status, seen.status, deleted.status]).toEqual([200, 303, 200, 303])
  expect(shown.includes('Carts and payment') && !shown.includes('svc-checkout')).toBe(true)
  expect(acts.map(({ action, actor }) => [action, actor])).toEqual([
    ['status_page.delete', member.id],
    ['status_page.update', member.id],
    ['status_page.create', member.id],
  ])
})

test('simultaneous edits of a page by two people lose no change', async () => {
  const id = await makePage('second')
  const path = `${member.actions}/pages/${id}/save`
  const { text } = await member.client.get(`${member.root}/pages/${id}`)
  const mine = await press(text, path, { do: 'save', title: 'Mine' })
  const moved = await press(text, path, { do: 'remove:2', title: 'Theirs' })
  const theirs = await press(moved.text, path, { do: 'save' })
  const again = await press(theirs.text, path, { do: 'save' })

  expect([mine.status, theirs.status, again.status]).toEqual([303, 409, 303])
  expect(theirs.text).toContain('It now contains: Mine, svc-checkout, Find, svc-search.')
  expect(theirs.text).toContain('value="Theirs"')
  expect((await server.store.getStatusPage(id)).title).toBe('Theirs')
})

test('a page with a mistake does not replace the change of another person once it is corrected', async () => {
  const id = await makePage('corrected')
  const path = `${member.actions}/pages/${id}/save`
  const { text } = await member.client.get(`${member.root}/pages/${id}`)
  await press(text, path, { do: 'save', title: 'Theirs' })
  const faulty = await press(text, path, { do: 'save', title: '' })
  const corrected = await press(faulty.text, path, { do: 'save', title: 'Mine' })

  expect([faulty.status, corrected.status]).toEqual([422, 409])
  expect((await server.store.getStatusPage(id)).title).toBe('Theirs')
})

test.each([
  ['an invalid slug', { slug: 'A b' }, 'The slug must have 3 to 63 characters'],
  ['no title', { title: '' }, 'is-invalid'],
  ['a slug that is taken', { slug: 'taken-slug' }, 'taken'],
])('%s is reported, and the entered values are kept', async (_what, changes, message) => {
  const orgId = await server.createOrg({ name: 'Other' })
  const settings = { slug: 'taken-slug', title: 'x' }
  await server.store
    .createStatusPage({ id: crypto.randomUUID(), orgId, nowMs: Date.now(), settings })
    .catch(() => {})
  const path = `${member.actions}/pages`
  const first = await press((await member.client.get(`${member.root}/pages/new`)).text, path, {
    ...{ title: 'Typed <b>', slug: 'typed-slug', do: 'service', added: checkout },
  })
  const { status, text } = await press(first.text, path, { ...changes, do: 'save' })

  expect(status).toBe(422)
  expect(text.includes(message) || text.includes('aria-invalid="true"')).toBe(true)
  expect(text).toContain('value="svc-checkout"')
})

test('a viewer sees status pages without a form', async () => {
  const id = await makePage('third')
  const viewer = await server.signIn('viewer')
  const { text } = await viewer.client.get(`${viewer.root}/pages/${id}`)

  expect(text).toContain('/s/third/badge.svg')
  expect(text).not.toContain('name="generation"')
})
