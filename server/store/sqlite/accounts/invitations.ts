import { foldedEmail } from '../../../domain/accounts/emailAddress.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { Acceptance, MemberStore, OpenInvitation } from '../../accountStore.ts'
import {
  assertInvitable,
  assertMayAddMember,
  invitationNotFound,
  inviteAction,
  isForInvited,
  joinAction,
  withdrawAction,
} from '../../shared/accountRules.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import type { AuditedWrites } from '../changes/audit.ts'
import type { Connections } from '../files/openDatabase.ts'

type Methods = 'invite' | 'invitationOf' | 'listInvitations' | 'withdrawInvitation' | 'acceptInvitation'

const SELECT = `SELECT i.token_hash AS tokenHash, i.org_id AS orgId, o.name AS orgName, i.email, i.role,
    i.expires_at_ms AS expiresAtMs, p.id AS personId
  FROM invitations i JOIN orgs o ON o.id = i.org_id LEFT JOIN people p ON p.email_folded = i.email_folded`

/** Invitations in SQLite. An accepted one is removed. */
export function sqliteInvitations(
  { reader, writer }: Connections,
  { commits, note }: AuditedWrites,
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
  const admitPerson = ({ email }: OpenInvitation, acceptance: Acceptance, nowMs: number): void => {
    if (acceptance.kind === 'person') return
    const { personId, name, passwordHash } = acceptance
    insertPerson.run(personId, email, foldedEmail(email), name, passwordHash, timestamp(nowMs))
  }
  return {
    invite: (invitation, by, nowMs) =>
      commits.run(() => {
        const { tokenHash, orgId, email, role, expiresAtMs } = invitation
        const folded = foldedEmail(email)
        if (known.get(orgId) === undefined) throw orgNotFound(orgId)
        assertInvitable(email, {
          isMember: isMember.get(orgId, folded) !== undefined,
          members: members.get(orgId) ?? 0,
          open: open.get(orgId, nowMs, folded) ?? 0,
        })
        replace.run(tokenHash, orgId, email, folded, role, expiresAtMs)
        note(inviteAction(invitation, by, nowMs))
      }),
    invitationOf: async (tokenHash, nowMs) => find.get(tokenHash, nowMs),
    listInvitations: async (orgId, nowMs) => list.all(orgId, nowMs),
    withdrawInvitation: (orgId, tokenHash, by, nowMs) =>
      commits.run(() => {
        const invitation = findForWrite.get(tokenHash, nowMs)
        if (invitation?.orgId !== orgId) throw invitationNotFound()
        remove.run(tokenHash)
        note(withdrawAction(invitation, by, nowMs))
      }),
    acceptInvitation: (tokenHash, acceptance, nowMs) =>
      commits.run(() => {
        const invitation = findForWrite.get(tokenHash, nowMs)
        if (invitation === undefined || !isForInvited(invitation, acceptance)) return undefined
        const { orgId, role } = invitation
        const { personId } = acceptance
        assertMayAddMember(members.get(orgId) ?? 0)
        admitPerson(invitation, acceptance, nowMs)
        insertMember.run(orgId, personId, role, timestamp(nowMs))
        remove.run(tokenHash)
        note(joinAction(invitation, personId, nowMs))
        return { ...invitation, personId }
      }),
  }
}
