import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { Role } from '../../domain/accounts/roles.ts'
import { hashToken, newToken } from '../../domain/accounts/sessions.ts'
import { consoleRoutes } from '../consoleRoutes.ts'
import { SESSION_COOKIE } from '../routing/cookies.ts'
import { ConsoleClient } from '../testing/consoleClient.ts'
import { startConsoleServer } from '../testing/startConsoleServer.ts'

const PASSWORD = 'correct horse battery'
const HOUR_MS = 3_600_000

const server = await startConsoleServer()
afterAll(() => server.close())

/** A new invitation; the token of its link. */
async function invited(email: string, role: Role = 'owner'): Promise<string> {
  const token = newToken(randomBytes)
  const invitation = { tokenHash: hashToken(token), orgId: server.orgId, email, role }
  await server.store.invite({ ...invitation, expiresAtMs: Date.now() + HOUR_MS }, { kind: 'cli' }, Date.now())
  return token
}

const accept = (client: ConsoleClient, token: string) =>
  client.post(`/api/invitations/${token}`, { name: 'Somebody', password: PASSWORD })
const signIn = (client: ConsoleClient, email: string, password = PASSWORD) =>
  client.post('/api/sessions', { email, password })
const statusWith = async (token: string | undefined) =>
  (await new ConsoleClient(server.consoleUrl, token).get('/me')).status
const members = async () => (await server.store.listMembers(server.orgId)).map(({ email }) => email).sort()

test('signing in never reuses a session id of the browser, and ends the session that it replaces', async () => {
  await accept(server.visitor(), await invited('fix@example.org'))
  const planted = newToken(randomBytes)
  const victim = new ConsoleClient(server.consoleUrl, planted)
  const first = await signIn(victim, 'fix@example.org')
  const before = victim.cookie(SESSION_COOKIE)
  await signIn(victim, 'fix@example.org')
  const after = victim.cookie(SESSION_COOKIE)

  expect(new Set([planted, before, after]).size).toBe(3)
  expect([await statusWith(planted), await statusWith(before), await statusWith(after)]).toEqual([
    303, 303, 200,
  ])
  const flags = 'Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age='
  expect(first.headers.getSetCookie().map((line) => line.replace(/=[^;]*;/, ' '))).toEqual([
    `__Host-pharos  ${flags}2592000`,
    `__Host-pharos-device  ${flags}31536000`,
  ])
})

test('an invitation is valid only for its address: strangers and other members cannot join with it', async () => {
  await accept(server.visitor(), await invited('known@example.org'))
  const orgId = await server.createOrg({ name: 'Second' })
  const tokenHash = newToken(randomBytes)
  const invitation = {
    tokenHash: hashToken(tokenHash),
    orgId,
    email: 'known@example.org',
    role: 'owner',
  } as const
  await server.store.invite({ ...invitation, expiresAtMs: Date.now() + HOUR_MS }, { kind: 'cli' }, Date.now())
  const other = await server.signIn('owner')
  const responses = [await accept(server.visitor(), tokenHash), await accept(other.client, tokenHash)]
  const before = await server.store.listMembers(orgId)
  const known = server.visitor()
  await signIn(known, 'known@example.org')
  const joined = await known.post(`/api/invitations/${tokenHash}`)

  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  expect([before, joined.status, joined.location]).toEqual([[], 303, `/o/${orgId}`])
  // The password that the stranger typed is not that of the account.
  expect((await server.store.listMembers(orgId)).map(({ email }) => email)).toEqual(['known@example.org'])
})

test('an invitation that is accepted twice at the same moment makes one person', async () => {
  const token = await invited('twice@example.org')
  const [one, two] = [server.visitor(), server.visitor()]
  const responses = await Promise.all([accept(one, token), accept(two, token)])

  expect(responses.map(({ status }) => status).sort()).toEqual([303, 410])
  expect((await members()).filter((email) => email === 'twice@example.org')).toHaveLength(1)
})

test('a person has at most fifty sessions, and the least recently used one ends for the next', async () => {
  const { id, client } = await server.signIn('viewer')
  const nowMs = Date.now()
  for (let index = 1; index <= 50; index += 1) {
    const times = { createdAtMs: nowMs, seenAtMs: nowMs + index, elevatedAtMs: null }
    const session = { ...times, idHash: randomBytes(32), personId: id, browser: `${index}` }
    expect(await server.store.openSession(session, 'none')).toBe(true)
  }

  const left = (await server.store.sessionsOf(id, nowMs)).map(({ browser }) => browser)
  expect(left).toEqual(Array.from({ length: 50 }, (_, index) => `${50 - index}`))
  expect((await client.get('/me')).status).toBe(303)
})

test('an unknown account gets the same response as a wrong password', async () => {
  await accept(server.visitor(), await invited('real@example.org'))
  const wrong = await signIn(server.visitor(), 'real@example.org', 'not the password')
  const unknown = await signIn(server.visitor(), 'nobody@example.org', 'not the password')

  expect([unknown.status, unknown.text.replace('nobody@', 'real@')]).toEqual([wrong.status, wrong.text])
})

test('without an invitation no route creates a person, a member or a session', async () => {
  const forms = [
    { name: 'Eve', email: 'eve@example.org', password: PASSWORD, role: 'owner', org: server.orgId },
    { name: 'Eve', email: 'eve@example.org', password: '', token: '' },
  ]
  const before = await members()
  for (const { path } of consoleRoutes.filter(
    ({ method, access }) => method === 'POST' && access === 'anyone',
  )) {
    for (const form of forms) {
      for (const token of ['', 'x', newToken(randomBytes)]) {
        const visitor = server.visitor()
        const response = await visitor.post(path.replace(/:\w+/, token), form)
        expect([path, token, visitor.cookie(SESSION_COOKIE), response.status < 500]).toEqual([
          ...[path, token, undefined, true],
        ])
      }
    }
  }

  expect(await members()).toEqual(before)
  expect(await server.store.personWithEmail('eve@example.org')).toBeUndefined()
})
