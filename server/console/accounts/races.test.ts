import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { hashPassword } from '../../domain/accounts/passwordHash.ts'
import { hashToken, newToken } from '../../domain/accounts/sessions.ts'
import {
  type ConsoleServer,
  QUICK_HASH,
  startConsoleServer,
  type TestPerson,
} from '../testing/startConsoleServer.ts'

const OLD = 'correct horse battery'
const NEW = 'another long text'
const HOUR_MS = 3_600_000

let server: ConsoleServer
/** Hashes of OLD and of NEW. */
let hashes: { readonly old: string; readonly new: string }
let person: TestPerson
/**
 * What happens once a password was found right, in front of what the request does next: tokens and salts are made then.
 */
let meanwhile: () => void = () => {}

beforeAll(async () => {
  hashes = {
    old: await hashPassword(OLD, randomBytes, QUICK_HASH),
    new: await hashPassword(NEW, randomBytes, QUICK_HASH),
  }
  server = await startConsoleServer({
    // No wrong password is forgotten.
    monotonicMs: () => 0,
    environment: {
      randomBytes: (size) => {
        const act = meanwhile
        meanwhile = () => {}
        act()
        return randomBytes(size)
      },
    },
  })
})
afterAll(() => server.close())
beforeEach(async () => {
  person = await server.signIn('owner', { isElevated: false })
  await server.store.replacePasswordHash(person.id, 'none', hashes.old)
})

/** Uses a link that sets the password to NEW. */
async function useResetLink({ id, email }: TestPerson): Promise<() => void> {
  const tokenHash = hashToken(newToken(randomBytes))
  const times = { expiresAtMs: Date.now() + HOUR_MS, nowMs: Date.now() }
  await server.store.startReset({ email, tokenHash, by: { kind: 'cli' }, ...times })
  expect(await server.store.passwordHashOf(id)).toBe(hashes.old)
  return () => void server.store.resetPassword(tokenHash, hashes.new, Date.now())
}

test('a sign-in in progress with the old password opens no session after a reset', async () => {
  meanwhile = await useResetLink(person)
  const visitor = server.visitor()
  const late = await visitor.post('/api/sessions', { email: person.email, password: OLD })

  expect(late.status).toBe(422)
  expect(visitor.cookie('__Host-pharos')).toBeUndefined()
  expect(await server.store.sessionsOf(person.id, Date.now())).toEqual([])
})

test('a password change in progress does not undo a reset', async () => {
  meanwhile = await useResetLink(person)
  const late = await person.client.post('/api/me/password', { current: OLD, next: 'what a thief chooses' })

  expect(late.status).toBe(422)
  expect(await server.store.passwordHashOf(person.id)).toBe(hashes.new)
  expect(await server.store.sessionsOf(person.id, Date.now())).toEqual([])
})

test('an owner whose role is lowered while the password is checked cannot finish the action', async () => {
  await server.signIn('owner')
  const { id, client, actions } = person
  const change = { orgId: server.orgId, personId: id, role: 'viewer', by: { kind: 'cli' } } as const
  meanwhile = () => void server.store.changeRole({ ...change, nowMs: Date.now() })
  const form = { note: 'Late', scope: 'read_write', your_password: OLD }
  const late = await client.post(`${actions}/keys`, form)

  expect(late.status).toBe(401)
  expect((await server.store.listKeys(server.orgId)).filter(({ note }) => note === 'Late')).toEqual([])
})

test('after too many wrong passwords, the form that asks for it keeps all input', async () => {
  const { client, actions } = person
  const form = { note: 'Terraform in CI', scope: 'read_only' }
  for (let count = 0; count < 10; count += 1) {
    await client.post(`${actions}/keys`, { ...form, your_password: 'a wrong password' })
  }
  const refused = await client.post(`${actions}/keys`, { ...form, your_password: OLD })

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  expect(refused.text).toContain('There were too many wrong passwords. Try again in 60 seconds.')
  expect(refused.text).toContain('name="note" value="Terraform in CI"')
  expect(refused.text).toContain('name="scope" value="read_only"')
})

test('an action that fails after the password was confirmed leaves the session usable', async () => {
  const { client, actions } = person
  const before = client.cookie('__Host-pharos')
  const path = `${actions}/keys/${crypto.randomUUID()}/revoke`
  const response = await client.post(path, { your_password: OLD })

  expect([response.status, (await client.get('/me')).status]).toEqual([404, 200])
  expect(client.cookie('__Host-pharos')).not.toBe(before)
})
