import { afterAll, expect, test } from 'vitest'
import { runHere } from '../testing/commandHere.ts'
import { startConsoleServer } from './testing/startConsoleServer.ts'

const server = await startConsoleServer()
afterAll(() => server.close())

test('an owner is invited by the command line, chooses a password, and signs in and out with it', async () => {
  const command = ['owner', 'invite', '--org', server.orgId, '--email', 'Ada@Example.org', '--json']
  const run = await runHere([...command, ...server.flags, '--console-url', server.consoleUrl])
  const { pathname } = new URL(JSON.parse(run.stdout).url)
  const client = server.visitor()
  const invitation = await client.get(pathname)
  const weak = await client.post(pathname.replace('/invite', '/api/invitations'), {
    name: 'Ada',
    password: 'short',
  })
  const password = 'correct horse battery'
  const joined = await client.post(pathname.replace('/invite', '/api/invitations'), { name: 'Ada', password })
  const start = await client.get(joined.location)
  const page = await client.get(start.location)
  const end = await client.post('/api/sessions/end')
  const wrong = await client.post('/api/sessions', { email: 'ada@example.org', password: 'wrong' })
  const again = await client.post('/api/sessions', {
    email: 'ADA@example.org',
    password,
    next: start.location,
  })

  expect([invitation.status, weak.status, joined.status, page.status]).toEqual([200, 422, 303, 200])
  expect(weak.text).toContain('Must have at least 12 characters')
  expect(page.text).toContain('You are now owner of Acme.')
  expect([end.location, wrong.status, again.location]).toEqual(['/login', 422, start.location])
  expect((await server.visitor().get(pathname)).status).toBe(410)
})

test('a page without a session redirects to sign-in and back; an action without one is refused', async () => {
  const visitor = server.visitor()
  const path = `/o/${server.orgId}/settings/organisation`

  expect((await visitor.get(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`)
  expect((await visitor.get('/login?next=//evil.example')).text).toContain('name="next" value="/"')
})

test('an organisation of others gets the same response as an unknown one', async () => {
  const otherOrg = await server.createOrg({ name: 'Other' })
  const { client } = await server.signIn('owner')
  const foreign = await client.get(`/o/${otherOrg}/settings/organisation`)
  const unknown = await client.get(`/o/${crypto.randomUUID()}/settings/organisation`)

  expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
})

test('a form from another site, from another port, or without an origin changes nothing', async () => {
  const { client, id } = await server.signIn('owner')
  const sites = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    {},
    { origin: 'null' },
  ]
  const responses = []
  for (const headers of sites) responses.push((await client.post('/api/sessions/end', {}, headers)).status)

  expect(responses).toEqual([403, 403, 403, 403])
  expect(await server.store.sessionsOf(id, Date.now())).toHaveLength(1)
  expect((await client.post('/api/sessions/end', {}, { origin: server.consoleUrl })).status).toBe(303)
})
