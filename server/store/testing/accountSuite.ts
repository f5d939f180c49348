import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../domain/accounts/roles.ts'
import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../domain/accounts/sessions.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { AuditFilter } from '../notificationStore.ts'
import type { Store } from '../store.ts'
import type { MakeEngine } from './storeSuite.ts'

const BY = { kind: 'cli' } as const
const HASH = 'none'

const lastOwner = { status: 'rejected', reason: { message: expect.stringContaining('the last owner') } }

/** Tests of accounts for every database behind Store, with two programs on one database. */
export function accountSuite(name: string, makeEngine: MakeEngine): void {
  let store: Store
  /** That of another program. */
  let other: Store
  let remove: () => Promise<void>
  beforeAll(async () => {
    const empty = await makeEngine()
    remove = empty.remove
    store = await empty.engine.open('serve')
    other = await empty.engine.open('administer')
  })
  afterAll(async () => {
    await Promise.all([store.close(), other.close()])
    await remove()
  })

  async function createOrg(): Promise<string> {
    const id = systemEnvironment.uuid()
    await store.createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
    return id
  }

  const newEmail = (): string => `${systemEnvironment.uuid()}@example.org`

  async function invite(
    orgId: string,
    email: string,
    role: Role = 'owner',
    expiresAtMs = 1,
  ): Promise<Buffer> {
    const tokenHash = randomBytes(32)
    await store.invite({ tokenHash, orgId, email, role, expiresAtMs }, BY, 0)
    return tokenHash
  }

  async function join(orgId: string, role: Role = 'owner', email = newEmail()): Promise<string> {
    const personId = systemEnvironment.uuid()
    const tokenHash = await invite(orgId, email, role)
    await store.acceptInvitation(tokenHash, { kind: 'new', personId, name: 'Ada', passwordHash: HASH }, 0)
    return personId
  }

  function open(personId: string, times: { createdAtMs?: number; seenAtMs?: number } = {}, hash = HASH) {
    const session = {
      ...{ idHash: randomBytes(32), personId, createdAtMs: 0, seenAtMs: 0, elevatedAtMs: null },
      ...{ browser: 'x', ...times },
    }
    return { session, opened: store.openSession(session, hash) }
  }

  describe(`${name}: members`, () => {
    test('when two programs remove two owners at once, one owner stays', async () => {
      const orgId = await createOrg()
      const [first, second] = [await join(orgId), await join(orgId)]

      const removals = await Promise.allSettled([
        store.removeMember({ orgId, personId: first, by: BY, nowMs: 0 }),
        other.changeRole({ orgId, personId: second, role: 'viewer', by: BY, nowMs: 0 }),
      ])
      const owners = (await other.listMembers(orgId)).filter(({ role }) => role === 'owner')

      expect(removals.filter(({ status }) => status === 'rejected')).toMatchObject([lastOwner])
      expect(owners).toHaveLength(1)
    })

    test('an invitation that two programs accept at once creates one person and one member', async () => {
      const orgId = await createOrg()
      const tokenHash = await invite(orgId, newEmail())
      const accept = (program: Store) =>
        program.acceptInvitation(
          tokenHash,
          { kind: 'new', personId: systemEnvironment.uuid(), name: 'Ada', passwordHash: HASH },
          0,
        )

      const accepted = await Promise.all([accept(store), accept(other)])
      const members = await store.listMembers(orgId)

      expect(accepted.filter((invitation) => invitation !== undefined)).toHaveLength(1)
      expect(members.map(({ name: shown, role }) => [shown, role])).toEqual([['Ada', 'owner']])
      expect(await store.orgsWithoutOwner()).not.toContainEqual(expect.objectContaining({ id: orgId }))
    })

    test('invitations of two organisations for one address that two programs accept at once create one person', async () => {
      const email = newEmail()
      const tokens = [await invite(await createOrg(), email), await invite(await createOrg(), email)]

      const accepted = await Promise.all(
        tokens.map((tokenHash, index) =>
          (index === 0 ? store : other).acceptInvitation(
            tokenHash,
            { kind: 'new', personId: systemEnvironment.uuid(), name: 'Ada', passwordHash: HASH },
            0,
          ),
        ),
      )
      const person = (await store.personWithEmail(email))?.person
      const memberships = await store.membershipsOf(person?.id ?? '')

      expect(accepted.filter((invitation) => invitation !== undefined)).toHaveLength(1)
      expect(memberships).toHaveLength(1)
    })

    test('a newer invitation replaces the open one of the address, and a member is not invited', async () => {
      const orgId = await createOrg()
      const email = newEmail()
      const earlier = await invite(orgId, email, 'viewer')
      const newer = await invite(orgId, email.toUpperCase(), 'member')
      const listed = await store.listInvitations(orgId, 0)
      const found = [await store.invitationOf(earlier, 0), await store.invitationOf(newer, 0)]
      const acceptance = {
        kind: 'new',
        personId: systemEnvironment.uuid(),
        name: 'x',
        passwordHash: HASH,
      } as const
      await store.acceptInvitation(newer, acceptance, 0)

      expect(listed.map(({ role }) => role)).toEqual(['member'])
      expect(found.map((one) => one?.email)).toEqual([undefined, email.toUpperCase()])
      await expect(invite(orgId, email)).rejects.toThrow('is a member of the organisation already')
    })

    test('the actions are in the audit log with the address of the person', async () => {
      const orgId = await createOrg()
      const email = newEmail()
      const id = await join(orgId, 'owner', email)
      const token = await invite(orgId, newEmail())
      await store.withdrawInvitation(orgId, token, { kind: 'person', id }, 0)

      const entries = await store.findAudit(orgId, {}, { beforeSeq: undefined, countMax: 10 })

      expect(entries.map(({ action, actorName }) => [action, actorName])).toEqual([
        ['invitation.withdraw', email],
        ['invitation.create', null],
        ['member.join', email],
        ['invitation.create', null],
        ['organisation.create', null],
      ])
    })

    test('a search of the audit log for a null character finds nothing', async () => {
      const orgId = await createOrg()
      const search = (filter: AuditFilter) =>
        store.findAudit(orgId, filter, { beforeSeq: undefined, countMax: 10 })

      expect(await search({ action: 'organisation.create\0' })).toEqual([])
      expect(await search({ targetId: `${orgId}\0` })).toEqual([])
    })
  })

  describe(`${name}: sessions`, () => {
    test('a session that one program opened is valid in the other until that ends it', async () => {
      const person = await join(await createOrg())
      const { session, opened } = open(person)
      await opened
      const found = await other.sessionOf(session.idHash, 1)
      await other.touchSession(session.idHash, 5)
      await other.touchSession(session.idHash, 3)
      const touched = (await store.sessionOf(session.idHash, 1))?.session.seenAtMs
      const ended = await other.endSessions(person, BY, 0)

      expect(found?.session).toEqual(session)
      expect([found?.person.name, touched, ended]).toEqual(['Ada', 5, 1])
      expect(await store.sessionOf(session.idHash, 1)).toBeUndefined()
    })

    test('a password change in one program ends the sessions that the other opened with the old password', async () => {
      const person = await join(await createOrg())
      const change = other.setPassword({
        personId: person,
        from: HASH,
        passwordHash: 'new',
        by: BY,
        nowMs: 0,
      })
      const attempts = Array.from({ length: 10 }, () => open(person).opened)

      const changed = await change
      await Promise.all(attempts)

      expect([changed, await store.sessionsOf(person, 1)]).toEqual([true, []])
      expect(await open(person).opened).toBe(false)
      expect(await open(person, {}, 'new').opened).toBe(true)
    })

    test('elevation gives a session a new id, once', async () => {
      const { session, opened } = open(await join(await createOrg()))
      await opened
      const renewed = randomBytes(32)

      const elevated = [
        await other.elevateSession(session.idHash, renewed, 7),
        await store.elevateSession(session.idHash, randomBytes(32), 8),
      ]

      expect(elevated).toEqual([true, false])
      expect((await store.sessionOf(renewed, 8))?.session).toMatchObject({ elevatedAtMs: 7, seenAtMs: 7 })
      expect(await store.sessionOf(session.idHash, 8)).toBeUndefined()
    })

    test('a person has at most 50 sessions, and the least recently used ends first', async () => {
      const person = await join(await createOrg())
      for (let seenAtMs = 0; seenAtMs < 51; seenAtMs += 1) await open(person, { seenAtMs }).opened

      const kept = (await store.sessionsOf(person, 60)).map(({ seenAtMs }) => seenAtMs)

      expect([kept.length, kept[0], kept.at(-1)]).toEqual([50, 50, 1])
    })
  })

  describe(`${name}: passwords`, () => {
    test('a link that two programs use at once sets one password', async () => {
      const email = newEmail()
      const person = await join(await createOrg(), 'owner', email)
      const reset = { email, expiresAtMs: 10, by: BY, nowMs: 0 }
      const [earlier, tokenHash] = [randomBytes(32), randomBytes(32)]
      await store.startReset({ ...reset, tokenHash: earlier })
      await store.startReset({ ...reset, tokenHash })

      const uses = await Promise.all([
        store.resetPassword(tokenHash, 'one', 0),
        other.resetPassword(tokenHash, 'two', 0),
      ])

      expect(uses.flatMap((used) => used?.id ?? [])).toEqual([person])
      expect(await store.passwordHashOf(person)).toBe(uses[0] === undefined ? 'two' : 'one')
      expect([await store.personOfReset(earlier, 0), await store.personOfReset(tokenHash, 0)]).toEqual([
        undefined,
        undefined,
      ])
      await expect(store.startReset({ ...reset, tokenHash, email: newEmail() })).rejects.toThrow(
        'there is no person',
      )
    })

    test('of two changes from one password the second is refused', async () => {
      const personId = await join(await createOrg())
      const change = (passwordHash: string, from: string | null = HASH) =>
        store.setPassword({ personId, from, passwordHash, by: BY, nowMs: 0 })

      expect([await change('one'), await change('two'), await change('three', null)]).toEqual([
        true,
        false,
        false,
      ])
      expect(await store.passwordHashOf(personId)).toBe('one')
    })
  })

  describe(`${name}: clean-up of accounts`, () => {
    test('clean-up removes expired sessions, invitations and resets, and leaves valid ones', async () => {
      const orgId = await createOrg()
      const nowMs = 2 * SESSION_MS_MAX
      const email = newEmail()
      const person = await join(orgId, 'owner', email)
      const [late, valid] = [newEmail(), newEmail()]
      await invite(orgId, late, 'viewer', nowMs)
      await invite(orgId, valid, 'viewer', nowMs + 1)
      const reset = { email, by: BY, nowMs: 0 }
      const tokenHash = randomBytes(32)
      const sessions = [
        { createdAtMs: nowMs - SESSION_IDLE_MS, seenAtMs: nowMs - SESSION_IDLE_MS },
        { createdAtMs: nowMs - SESSION_MS_MAX, seenAtMs: nowMs },
        { createdAtMs: nowMs - SESSION_MS_MAX + 1, seenAtMs: nowMs - SESSION_IDLE_MS + 1 },
      ].map((times) => open(person, times))
      await Promise.all(sessions.map(({ opened }) => opened))

      await store.startReset({ ...reset, tokenHash, expiresAtMs: nowMs + 1 })
      await store.tidy(nowMs)
      const leftInTime = await store.personOfReset(tokenHash, 0)
      await store.startReset({ ...reset, tokenHash, expiresAtMs: nowMs })
      await store.tidy(nowMs)

      // Asked for at an instant at which all of them were valid.
      const asOf = nowMs - SESSION_IDLE_MS
      expect((await store.sessionsOf(person, asOf)).map(({ idHash }) => idHash)).toEqual([
        sessions[2]?.session.idHash,
      ])
      expect((await store.listInvitations(orgId, 0)).map((one) => one.email)).toEqual([valid])
      expect([leftInTime?.id, await store.personOfReset(tokenHash, 0)]).toEqual([person, undefined])
    })
  })
}
