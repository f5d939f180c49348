import { ApiError } from '../../../../api/contract/apiError.ts'
import { foldedEmail } from '../../../domain/accounts/emailAddress.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { Acceptance, MemberStore, OpenInvitation } from '../../accountStore.ts'
import { noOrg } from '../../shared/noOrg.ts'
import type { Connections } from '../files/openDatabase.ts'
import type { NotedWrites } from '../changes/audit.ts'

/** Most members of an organisation, and most open invitations. */
const MEMBERS_MAX = 200
const INVITATIONS_MAX = 20

type Methods = 'invite' | 'invitationOf' | 'listInvitations' | 'withdrawInvitation' | 'acceptInvitation'

const SELECT = `SELECT i.token_hash AS tokenHash, i.org_id AS orgId, o.name AS orgName, i.email, i.role,
    i.expires_at_ms AS expiresAtMs, p.id AS personId
  FROM invitations i JOIN orgs o ON o.id = i.org_id LEFT JOIN people p ON p.email_folded = i.email_folded`

/** Invitations in SQLite. An accepted one is removed. */
export function sqliteInvitations(
  { reader, writer }: Connections,
  { commits, note }: NotedWrites,
): Pick<MemberStore, Methods> {
  const known = writer.prepare<[string], number>('SELECT 1 FROM orgs WHERE id = ?').pluck()
  const isMember = writer
    .prepare<[string, string], number>(
      `SELECT 1 FROM memberships m JOIN people p ON p.id = m.person_id
       WHERE m.org_id = ? AND p.email_folded = ?`,
    )
    .pluck()
  const members = writer
    .prepare<[string], number>('SELECT count(*) FROM memberships WHERE org_id = ?')
    .pluck()
  const open = writer
    .prepare<[string, number, string], number>(
      'SELECT count(*) FROM invitations WHERE org_id = ? AND expires_at_ms > ? AND email_folded <> ?',
    )
    .pluck()
  const replace = writer.prepare(
    `INSERT OR REPLACE INTO invitations (token_hash, org_id, email, email_folded, role, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const one = `${SELECT} WHERE i.token_hash = ? AND i.expires_at_ms > ?`
  const find = reader.prepare<[Buffer, number], OpenInvitation>(one)
  const findForWrite = writer.prepare<[Buffer, number], OpenInvitation>(one)
  const list = reader.prepare<[string, number], OpenInvitation>(
    `${SELECT} WHERE i.org_id = ? AND i.expires_at_ms > ? ORDER BY i.email_folded`,
  )
  const remove = writer.prepare('DELETE FROM invitations WHERE token_hash = ?')
  const insertPerson = writer.prepare(
    `INSERT INTO people (id, email, email_folded, name, password_hash, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const insertMember = writer.prepare(
    'INSERT INTO memberships (org_id, person_id, role, created_at) VALUES (?, ?, ?, ?)',
  )
  const assertRoom = (orgId: string): void => {
    if ((members.get(orgId) ?? 0) >= MEMBERS_MAX) {
      throw new ApiError('invalid', `an organisation has at most ${MEMBERS_MAX} members`)
    }
  }
  /** Makes the person of `acceptance` if it is new. False when the address is not that of `acceptance`. */
  const admitPerson = (invitation: OpenInvitation, acceptance: Acceptance, nowMs: number): boolean => {
    const { email, personId } = invitation
    if (acceptance.kind === 'person') return acceptance.personId === personId
    if (personId !== null) return false
    const { name, passwordHash } = acceptance
    insertPerson.run(acceptance.personId, email, foldedEmail(email), name, passwordHash, timestamp(nowMs))
    return true
  }
  return {
    invite: ({ tokenHash, orgId, email, role, expiresAtMs }, by, nowMs) =>
      commits.run(() => {
        const folded = foldedEmail(email)
        if (known.get(orgId) === undefined) throw noOrg(orgId)
        if (isMember.get(orgId, folded) !== undefined) {
          throw new ApiError('invalid', `${email} is a member of the organisation already`)
        }
        assertRoom(orgId)
        if ((open.get(orgId, nowMs, folded) ?? 0) >= INVITATIONS_MAX) {
          throw new ApiError('invalid', `an organisation has at most ${INVITATIONS_MAX} open invitations`)
        }
        replace.run(tokenHash, orgId, email, folded, role, expiresAtMs)
        note({ orgId, by, action: 'invitation.create', targetId: idOf(tokenHash), nowMs, detail: { role } })
      }),
    invitationOf: async (tokenHash, nowMs) => find.get(tokenHash, nowMs),
    listInvitations: async (orgId, nowMs) => list.all(orgId, nowMs),
    withdrawInvitation: (orgId, tokenHash, by, nowMs) =>
      commits.run(() => {
        const invitation = findForWrite.get(tokenHash, nowMs)
        if (invitation?.orgId !== orgId) throw new ApiError('not_found', 'there is no such invitation')
        remove.run(tokenHash)
        note({ orgId, by, action: 'invitation.withdraw', targetId: idOf(tokenHash), nowMs })
      }),
    acceptInvitation: (tokenHash, acceptance, nowMs) =>
      commits.run(() => {
        const invitation = findForWrite.get(tokenHash, nowMs)
        if (invitation === undefined || !admitPerson(invitation, acceptance, nowMs)) return undefined
        const { orgId, role } = invitation
        const { personId } = acceptance
        assertRoom(orgId)
        insertMember.run(orgId, personId, role, timestamp(nowMs))
        remove.run(tokenHash)
        const by = { kind: 'person', id: personId } as const
        note({
          orgId,
          by,
          action: 'member.join',
          targetId: personId,
          nowMs,
          detail: { role, invitation: idOf(tokenHash) },
        })
        return { ...invitation, personId }
      }),
  }
}

/** The id of an invitation in the audit log, which has no addresses of people. */
function idOf(tokenHash: Buffer): string {
  return tokenHash.toString('hex')
}
