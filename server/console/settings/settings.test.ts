import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { hashPassword } from '../../domain/accounts/passwordHash.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { QUICK_HASH, startConsoleServer } from '../testing/startConsoleServer.ts'

const server = await startConsoleServer()
afterAll(() => server.close())

const audited = async (prefix: string) =>
  (await server.store.listAudit(server.orgId, 1_000)).filter(({ action }) => action.startsWith(prefix))

test('a key is shown once, works, shows its last use, and is refused once it is revoked', async () => {
  const { client, root, actions, id, email } = await server.signIn('owner')
  const minted = await client.post(`${actions}/keys`, { note: 'Terraform <in> CI', scope: 'read_only' })
  const key = /pharos_[0-9a-f]{64}/.exec(minted.text)?.[0] ?? ''
  const api = apiClient(server.url, key)
  const before = await api.get('/v1/org')
  const keys = await client.get(`${root}/settings/keys`)
  const stored = (await server.store.listKeys(server.orgId)).find(({ last4 }) => last4 === key.slice(-4))
  const revoked = await client.post(`${actions}/keys/${stored?.id}/revoke`)
  const after = await api.get('/v1/org')

  expect([minted.status, before.status, revoked.status, after.status]).toEqual([200, 200, 303, 401])
  expect(minted.headers.get('cache-control')).toBe('no-store')
  expect(keys.text).toContain('Terraform &lt;in&gt; CI')
  expect(keys.text).not.toContain(key)
  expect(stored).toMatchObject({ scope: 'read_only', createdBy: email, note: 'Terraform <in> CI' })
  expect((await audited('key.')).slice(0, 2).map(({ action, actor }) => [action, actor])).toEqual([
    ['key.revoke', id],
    ['key.create', id],
  ])
})

test('a key needs a note, and one of another organisation cannot be revoked', async () => {
  const { client, actions } = await server.signIn('owner')
  const otherOrg = await server.createOrg({ name: 'Other' })
  await server.createKey({ orgId: otherOrg })
  const [foreign] = await server.store.listKeys(otherOrg)
  const empty = await client.post(`${actions}/keys`, { note: ' ', scope: 'read_write' })
  const refused = await client.post(`${actions}/keys/${foreign?.id}/revoke`)
  const unknown = await client.post(`${actions}/keys/${crypto.randomUUID()}/revoke`)

  expect([empty.status, refused.status]).toEqual([422, 404])
  expect(empty.text).toContain('aria-invalid="true"')
  expect(refused.text).toBe(unknown.text)
  expect((await server.store.listKeys(otherOrg))[0]?.revokedAt).toBeNull()
})

test('a person is invited with a role, and an invitation for a known address only adds the membership', async () => {
  const { client, actions } = await server.signIn('owner')
  const otherOrg = await server.createOrg({ name: 'Other' })
  const known = await server.signIn('viewer', { orgId: otherOrg })
  const invited = await client.post(`${actions}/invitations`, { email: known.email, role: 'member' })
  const path = new URL(/http:\/\/[^<]*\/invite\/[\w-]+/.exec(invited.text)?.[0] ?? '').pathname
  const accept = path.replace('/invite', '/api/invitations')
  const stranger = await server.visitor().get(path)
  const other = await server.signIn('viewer')
  const asOther = await other.client.post(accept, { name: 'Mallory', password: 'a stolen invitation' })
  const joined = await known.client.post(accept)

  expect([stranger.status, asOther.status, joined.status]).toEqual([200, 200, 303])
  expect(stranger.text).toContain(`/login?next=${path}`)
  expect((await server.store.membershipsOf(known.id)).map(({ role }) => role).sort()).toEqual([
    'member',
    'viewer',
  ])
  expect(await server.store.passwordHashOf(known.id)).toBe('none')
})

test('an invitation can be withdrawn, and is listed until then without its link', async () => {
  const { client, root, actions } = await server.signIn('owner')
  const invited = await client.post(`${actions}/invitations`, { email: 'eve@example.org', role: 'viewer' })
  const path = new URL(/http:\/\/[^<]*\/invite\/[\w-]+/.exec(invited.text)?.[0] ?? '').pathname
  const list = await client.get(`${root}/settings/members`)
  const withdraw = new RegExp(`${actions}/invitations/[0-9a-f]{64}/withdraw`).exec(list.text)?.[0] ?? ''
  const withdrawn = await client.post(withdraw)

  expect(list.text).toContain('eve@example.org')
  expect(list.text).not.toContain(path.slice('/invite/'.length))
  expect([withdrawn.status, (await server.visitor().get(path)).status]).toEqual([303, 410])
})

test('a lowered role and a removed member are signed out at once, and the last owner stays', async () => {
  const orgId = await server.createOrg({ name: 'Small' })
  const owner = await server.signIn('owner', { orgId })
  const member = await server.signIn('member', { orgId })
  const page = `${member.root}/settings/organisation`
  const seen = await member.client.get(page)
  await owner.client.post(`${owner.actions}/members/${member.id}/role`, { role: 'viewer' })
  const lowered = await member.client.get(page)
  const removed = await owner.client.post(`${owner.actions}/members/${member.id}/remove`)
  const last = await owner.client.post(`${owner.actions}/members/${owner.id}/remove`)
  const lastRole = await owner.client.post(`${owner.actions}/members/${owner.id}/role`, { role: 'member' })

  expect([seen.status, lowered.status, removed.status]).toEqual([200, 303, 303])
  expect(await server.store.membershipsOf(member.id)).toEqual([])
  expect([last.status, lastRole.status]).toEqual([422, 422])
  expect(last.text).toContain('The last owner must stay')
})

test('an action that needs the password asks for it, keeps the form, and gives the session a new id', async () => {
  const { client, actions, id } = await server.signIn('owner', { isElevated: false })
  const asked = await client.post(`${actions}/keys`, { note: 'Deploy', scope: 'read_only' })
  const token = client.cookie('__Host-pharos')

  expect(asked.status).toBe(403)
  expect(asked.text).toContain('name="note" value="Deploy"')
  await server.store.replacePasswordHash(
    id,
    'none',
    await hashPassword('the right password', randomBytes, QUICK_HASH),
  )
  const form = { note: 'Deploy', scope: 'read_only' }
  const wrong = await client.post(`${actions}/keys`, { ...form, your_password: 'not this one' })
  const right = await client.post(`${actions}/keys`, { ...form, your_password: 'the right password' })
  const next = await client.post(`${actions}/keys`, form)

  expect([wrong.status, right.status, next.status]).toEqual([422, 200, 200])
  expect(client.cookie('__Host-pharos')).not.toBe(token)
  expect(right.text).toMatch(/pharos_[0-9a-f]{64}/)
})

test('the organisation page shows limits with their usage, and an owner can rename the organisation', async () => {
  const orgId = await server.createOrg({ name: 'Before' })
  await server.store.overrideLimits(orgId, { servicesMax: 1234 })
  const owner = await server.signIn('owner', { orgId })
  const viewer = await server.signIn('viewer', { orgId })
  const renamed = await owner.client.post(`${owner.actions}/organisation`, { name: 'After' })
  const page = await viewer.client.get(`${viewer.root}/settings/organisation`)

  expect(renamed.status).toBe(303)
  expect(page.text).toContain('<bdi>After</bdi>')
  expect(page.text).toContain('0 of 1,234')
  expect(page.text).not.toContain('Rename')
})

test('each change has one entry in the audit log with its person, and a refused one has none', async () => {
  const orgId = await server.createOrg({ name: 'Audited' })
  const owner = await server.signIn('owner', { orgId })
  const member = await server.signIn('member', { orgId })
  const log = async () => (await server.store.listAudit(orgId, 1_000)).toReversed()
  const before = (await log()).length
  const { client, actions } = owner
  await client.post(`${actions}/keys`, { note: 'CI', scope: 'read_write' })
  const [key] = await server.store.listKeys(orgId)
  await client.post(`${actions}/keys/${key?.id}/revoke`)
  await client.post(`${actions}/invitations`, { email: 'new@example.org', role: 'viewer' })
  const [invitation] = await server.store.listInvitations(orgId, Date.now())
  await client.post(`${actions}/invitations/${invitation?.tokenHash.toString('hex')}/withdraw`)
  await client.post(`${actions}/members/${member.id}/role`, { role: 'viewer' })
  await client.post(`${actions}/members/${member.id}/remove`)
  await client.post(`${actions}/organisation`, { name: 'Renamed' })
  await client.post(`${actions}/keys`, { note: '', scope: 'read_write' })
  await client.post(`${actions}/members/${owner.id}/remove`)
  await client.post(`${actions}/organisation`, { name: '' })
  const entries = (await log()).slice(before)

  expect(entries.map(({ action, actorKind, actor }) => [action, actorKind, actor])).toEqual(
    [
      ...[
        'key.create',
        'key.revoke',
        'invitation.create',
        'invitation.withdraw',
        'member.role',
        'member.remove',
      ],
      'organisation.rename',
    ].map((action) => [action, 'person', owner.id]),
  )
  expect(JSON.stringify(entries)).not.toContain('@example.org')
})

test('an organisation has at most five hundred keys, and the page shows the hundred that were revoked last', async () => {
  const orgId = await server.createOrg({ name: 'Keys' })
  const { client, actions, root } = await server.signIn('owner', { orgId })
  await Promise.all(Array.from({ length: 500 }, () => server.createKey({ orgId })))
  const refused = await client.post(`${actions}/keys`, { note: 'One more', scope: 'read_only' })
  const keys = await server.store.listKeys(orgId)
  await Promise.all(
    keys
      .slice(0, 101)
      .map(({ id }) => server.store.revokeKey({ id, by: { kind: 'cli' }, nowMs: Date.now() })),
  )
  const made = await client.post(`${actions}/keys`, { note: 'One more', scope: 'read_only' })
  const { text } = await client.get(`${root}/settings/keys`)

  expect([refused.status, made.status]).toEqual([422, 200])
  expect(refused.text).toContain('at most 500 API keys: revoke one first')
  expect(text).toContain('<summary>101 revoked, the last 100</summary>')
  expect(text.match(/data-of="Revoked"/g)).toHaveLength(100)
})
