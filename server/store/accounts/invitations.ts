import { ApiError } from '../../../api/contract/apiError.ts'
import { foldedEmail } from '../../domain/accounts/emailAddress.ts'
import { timestamp } from '../../domain/environment.ts'
import type { Acceptance, MemberStore, OpenInvitation } from '../accountStore.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { count, row, rows, run, type Script, type Scripts } from '../scripts/script.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { uuidOrNull } from '../shared/uuid.ts'

/** Maximum number of members of an organisation, and of open invitations. */
const MEMBERS_MAX = 200
const INVITATIONS_MAX = 20

const SELECT = `SELECT i.token_hash AS "tokenHash", i.org_id AS "orgId", o.name AS "orgName", i.email, i.role,
    i.expires_at_ms AS "expiresAtMs", p.id AS "personId"
  FROM invitations i JOIN orgs o ON o.id = i.org_id LEFT JOIN people p ON p.email_folded = i.email_folded`

/** Invitations. An accepted one is removed. Audit entries do not contain the address, which is personal data. */
export function invitations({ read, withOrgLocked }: Scripts) {
  return {
    invite: ({ tokenHash, orgId, email, role, expiresAtMs }, by, nowMs) =>
      withOrgLocked(orgId, orgNotFound(orgId), function* () {
        const folded = foldedEmail(email)
        yield* assertInvitable(orgId, email, nowMs)
        yield* run(
          `INSERT INTO invitations (token_hash, org_id, email, email_folded, role, expires_at_ms)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (org_id, email_folded) DO UPDATE SET token_hash = excluded.token_hash,
             email = excluded.email, role = excluded.role, expires_at_ms = excluded.expires_at_ms`,
          [tokenHash, orgId, email, folded, role, expiresAtMs],
        )
        const targetId = tokenHash.toString('hex')
        yield* recordAction({ orgId, by, action: 'invitation.create', targetId, nowMs, detail: { role } })
      }),
    invitationOf: (tokenHash, nowMs) => read(() => invitationOf(tokenHash, nowMs)),
    listInvitations: (orgId, nowMs) => {
      const text = `${SELECT} WHERE i.org_id = $1 AND i.expires_at_ms > $2 ORDER BY i.email_folded`
      return read(() => rows<OpenInvitation>(text, [uuidOrNull(orgId), nowMs]))
    },
    withdrawInvitation: (orgId, tokenHash, by, nowMs) =>
      withOrgLocked(orgId, invitationNotFound(), function* () {
        const invitation = yield* invitationOf(tokenHash, nowMs)
        if (invitation?.orgId !== orgId) throw invitationNotFound()
        yield* remove(tokenHash)
        const targetId = tokenHash.toString('hex')
        yield* recordAction({ orgId, by, action: 'invitation.withdraw', targetId, nowMs })
      }),
    acceptInvitation: async (tokenHash, acceptance, nowMs) => {
      const known = await read(() => invitationOf(tokenHash, nowMs))
      if (known === undefined) return undefined
      return await withOrgLocked(known.orgId, orgNotFound(known.orgId), function* () {
        const invitation = yield* invitationOf(tokenHash, nowMs)
        if (invitation === undefined || !isForInvited(invitation, acceptance)) return undefined
        const { orgId, role } = invitation
        const { personId } = acceptance
        yield* assertMayAddMember(orgId)
        if (!(yield* admitPerson(invitation, acceptance, nowMs))) return undefined
        const text = 'INSERT INTO memberships (org_id, person_id, role, created_at) VALUES ($1, $2, $3, $4)'
        yield* run(text, [orgId, personId, role, timestamp(nowMs)])
        yield* remove(tokenHash)
        const by = { kind: 'person', id: personId } as const
        const detail = { role, invitation: tokenHash.toString('hex') }
        yield* recordAction({ orgId, by, action: 'member.join', targetId: personId, nowMs, detail })
        return { ...invitation, personId }
      })
    },
  } satisfies Partial<MemberStore>
}

/** The error for an invitation that is not open, or belongs to another organisation. */
function invitationNotFound(): ApiError {
  return new ApiError('not_found', 'there is no such invitation')
}

function invitationOf(tokenHash: Buffer, nowMs: number): Script<OpenInvitation | undefined> {
  const text = `${SELECT} WHERE i.token_hash = $1 AND i.expires_at_ms > $2`
  return row<OpenInvitation>(text, [tokenHash, nowMs])
}

/**
 * Creates the person of `acceptance` if needed. False when another organisation created a person with this address
 * meanwhile.
 */
function* admitPerson({ email }: OpenInvitation, acceptance: Acceptance, nowMs: number): Script<boolean> {
  if (acceptance.kind === 'person') return true
  const { personId, name, passwordHash } = acceptance
  const created = yield* row(
    `INSERT INTO people (id, email, email_folded, name, password_hash, created_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (email_folded) DO NOTHING RETURNING id`,
    [personId, email, foldedEmail(email), name, passwordHash, timestamp(nowMs)],
  )
  return created !== undefined
}

/** Throws `invalid` when the address cannot be invited. An open invitation of the same address is replaced. */
function* assertInvitable(orgId: string, email: string, nowMs: number): Script<void> {
  const folded = foldedEmail(email)
  const members = 'memberships m JOIN people p ON p.id = m.person_id'
  if ((yield* count(`${members} WHERE m.org_id = $1 AND p.email_folded = $2`, [orgId, folded])) > 0)
    throw new ApiError('invalid', `${email} is a member of the organisation already`)
  yield* assertMayAddMember(orgId)
  const others = 'invitations WHERE org_id = $1 AND expires_at_ms > $2 AND email_folded <> $3'
  if ((yield* count(others, [orgId, nowMs, folded])) >= INVITATIONS_MAX)
    throw new ApiError('invalid', `an organisation has at most ${INVITATIONS_MAX} open invitations`)
}

function* assertMayAddMember(orgId: string): Script<void> {
  if ((yield* count('memberships WHERE org_id = $1', [orgId])) < MEMBERS_MAX) return
  throw new ApiError('invalid', `an organisation has at most ${MEMBERS_MAX} members`)
}

/** Whether the person who accepts has the invited address, or is new and the address is free. Pure. */
function isForInvited({ personId }: OpenInvitation, acceptance: Acceptance): boolean {
  return acceptance.kind === 'person' ? acceptance.personId === personId : personId === null
}

function remove(tokenHash: Buffer): Script<void> {
  return run('DELETE FROM invitations WHERE token_hash = $1', [tokenHash])
}
