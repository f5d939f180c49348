import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { hashToken, newToken } from '../../domain/accounts/sessions.ts'
import { startServer, type TestServer } from '../../testing/startServer.ts'
import { ConsoleClient } from '../testing/consoleClient.ts'
import { startConsoleServer } from '../testing/startConsoleServer.ts'

const PASSWORD = 'correct horse battery'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Added to both clocks (milliseconds). */
let passedMs = 0

const server = await startConsoleServer({
  environment: { nowMs: () => Date.now() + passedMs },
  monotonicMs: () => performance.now() + passedMs,
})
afterAll(() => server.close())

/** A new owner with PASSWORD, and the browser that accepted the invitation. */
async function owner(
  email: string,
  { store, orgId, consoleUrl }: TestServer = server,
): Promise<ConsoleClient> {
  const token = newToken(randomBytes)
  const nowMs = Date.now() + passedMs
  const invitation = { tokenHash: hashToken(token), orgId, email, role: 'owner' } as const
  await store.invite({ ...invitation, expiresAtMs: nowMs + HOUR_MS }, { kind: 'cli' }, nowMs)
  const client = new ConsoleClient(consoleUrl)
  await client.post(`/api/invitations/${token}`, { name: 'Somebody', password: PASSWORD })
  return client
}

const isSignedIn = async (client: ConsoleClient) => (await client.get('/me')).status === 200

const SIGN_IN = '/api/sessions'

test('a session ends after twelve idle hours, and after thirty days in any case', async () => {
  const idle = await server.signIn('viewer')
  const used = await server.signIn('viewer')
  const startMs = passedMs
  const seen = [await isSignedIn(idle.client)]
  passedMs += 11 * HOUR_MS
  seen.push(await isSignedIn(idle.client))
  passedMs += 12 * HOUR_MS
  seen.push(await isSignedIn(idle.client))
  passedMs = startMs
  while (passedMs < startMs + 30 * DAY_MS - 11 * HOUR_MS) {
    passedMs += 11 * HOUR_MS
    expect(await isSignedIn(used.client)).toBe(true)
  }
  passedMs = startMs + 30 * DAY_MS
  seen.push(await isSignedIn(used.client))

  expect(seen).toEqual([true, true, false, false])
})

test('a browser that signed in before can sign in while others guess passwords of its account', async () => {
  const known = await owner('mary@example.org')
  await known.post('/api/sessions/end')
  for (let index = 0; index < 11; index += 1) {
    await server.visitor().post(SIGN_IN, { email: 'mary@example.org', password: 'a wrong password' })
  }
  const stranger = await server.visitor().post(SIGN_IN, { email: 'mary@example.org', password: PASSWORD })
  const again = await known.post(SIGN_IN, { email: 'mary@example.org', password: PASSWORD })

  expect([stranger.status, again.status]).toEqual([429, 303])
  passedMs += 24 * HOUR_MS
})

test('a password is changed with the old one; all other sessions end, and this one gets another id', async () => {
  const here = await owner('joan@example.org')
  const elsewhere = server.visitor()
  await elsewhere.post(SIGN_IN, { email: 'joan@example.org', password: PASSWORD })
  const before = here.cookie('__Host-pharos')
  const wrong = await here.post('/api/me/password', { current: 'not this one', next: 'another long text' })
  const weak = await here.post('/api/me/password', { current: PASSWORD, next: 'joanjoanjoan' })
  const changed = await here.post('/api/me/password', { current: PASSWORD, next: 'another long text' })

  expect([wrong.status, weak.status, changed.status]).toEqual([422, 422, 303])
  expect([await isSignedIn(here), await isSignedIn(elsewhere)]).toEqual([true, false])
  expect(here.cookie('__Host-pharos')).not.toBe(before)
})

test('a session can be ended from another one, and its id is invalid afterwards', async () => {
  const here = await owner('hedy@example.org')
  const elsewhere = server.visitor()
  await elsewhere.post(SIGN_IN, { email: 'hedy@example.org', password: PASSWORD })
  const page = await here.get('/me')
  const [action = ''] = /\/api\/me\/sessions\/[0-9a-f]{64}\/end/.exec(page.text) ?? []
  const foreign = await server.signIn('owner')
  await foreign.client.post(action)
  const kept = await isSignedIn(elsewhere)
  await here.post(action)

  expect([kept, await isSignedIn(elsewhere), await isSignedIn(here)]).toEqual([true, false, true])
})

test('a person who is signed in with another account accepts an invitation by signing in with the invited one', async () => {
  await owner('grace@example.org')
  const orgId = await server.createOrg({ name: 'Second' })
  const { client, actions } = await server.signIn('owner', { orgId })
  const invited = await client.post(`${actions}/invitations`, { email: 'grace@example.org', role: 'viewer' })
  const path = new URL(/http:\/\/[^<]*\/invite\/[\w-]+/.exec(invited.text)?.[0] ?? '').pathname
  const browser = (await server.signIn('viewer')).client

  const shown = await browser.get(path)
  const form = await browser.get(/href="(\/login\?next=[^"]+)"/.exec(shown.text)?.[1] ?? '')
  const next = /name="next" value="([^"]*)"/.exec(form.text)?.[1] ?? ''
  const signedIn = await browser.post(SIGN_IN, { email: 'grace@example.org', password: PASSWORD, next })
  const accepted = await browser.post(path.replace('/invite/', '/api/invitations/'))

  expect(shown.text).toContain('You are signed in as <bdi>viewer-')
  expect([form.status, signedIn.location, accepted.location]).toEqual([200, path, `/o/${orgId}`])
})

test('an invitation expires', async () => {
  const { client, actions } = await server.signIn('owner')
  const invited = await client.post(`${actions}/invitations`, { email: 'late@example.org', role: 'viewer' })
  const path = new URL(/http:\/\/[^<]*\/invite\/[\w-]+/.exec(invited.text)?.[0] ?? '').pathname
  passedMs += 7 * DAY_MS - HOUR_MS
  const before = await server.visitor().get(path)
  passedMs += HOUR_MS
  const after = await server.visitor().get(path)

  expect([before.status, after.status]).toEqual([200, 410])
})

test('after sign-in a person is redirected to the requested page, only within the console', async () => {
  await owner('ida@example.org')
  const form = { email: 'ida@example.org', password: PASSWORD }
  const own = await server.visitor().post(SIGN_IN, { ...form, next: '/me?x=1' })
  const foreign = await server.visitor().post(SIGN_IN, { ...form, next: '//evil.example' })

  expect([own.location, foreign.location]).toEqual(['/me?x=1', '/'])
})

test('a sign-in with an unknown address gets the same page, after the same computation, as one with a wrong password', async () => {
  // With hashes of the usual cost.
  const usual = await startServer({ rateLimit: 'none', console: {} })
  await owner('known@example.org', usual)
  const found = await usual.store.personWithEmail('known@example.org')
  const cpuMs: Record<string, number[]> = { known: [], other: [] }
  const pages: Record<string, string> = {}
  for (const name of ['known', 'other', 'known', 'other', 'known', 'other']) {
    const form = { email: `${name}@example.org`, password: 'not the password' }
    const before = process.cpuUsage()
    const { status, text } = await new ConsoleClient(usual.consoleUrl).post(SIGN_IN, form)
    const { user, system } = process.cpuUsage(before)
    cpuMs[name]?.push((user + system) / 1_000)
    pages[name] = `${status} ${text.replaceAll(form.email, '')}`
  }
  const least = (name: string): number => Math.min(...(cpuMs[name] ?? []))
  await usual.close()

  expect(found?.passwordHash).toContain('$ln=15,r=8,p=3$')
  expect(pages.other).toMatch(/^422 .*do not match/s)
  expect(pages.other).toBe(pages.known)
  // A hash is some fifty times everything else.
  expect(least('other')).toBeGreaterThan(least('known') / 3)
})

test('many sign-ins at once succeed or are asked to retry, and none is refused permanently', async () => {
  await owner('edith@example.org')
  const form = { email: 'edith@example.org', password: PASSWORD }
  const clients = await Promise.all(
    Array.from({ length: 14 }, async () => (await server.visitor().post(SIGN_IN, form)).status),
  )
  const counts = [303, 429, 503].map((status) => clients.filter((one) => one === status).length)

  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(14)
  expect(counts[0]).toBeGreaterThan(0)
  expect((await server.visitor().post(SIGN_IN, form)).status).toBe(303)
})
