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
import { countOf, rowOf, type Sql, uuidOrNull } from '../connections/sql.ts'
import { recordAction } from '../writes/auditWrites.ts'
import type { StoreParts } from '../writes/storeParts.ts'

type Methods = 'invite' | 'invitationOf' | 'listInvitations' | 'withdrawInvitation' | 'acceptInvitation'

const SELECT = `SELECT i.token_hash AS "tokenHash", i.org_id AS "orgId", o.name AS "orgName", i.email, i.role,
    i.expires_at_ms AS "expiresAtMs", p.id AS "personId"
  FROM invitations i JOIN orgs o ON o.id = i.org_id LEFT JOIN people p ON p.email_folded = i.email_folded`

/** Invitations in PostgreSQL. An accepted one is removed. */
export function postgresInvitations({ pools: { read }, queues }: StoreParts): Pick<MemberStore, Methods> {
  return {
    invite: (invitation, by, nowMs) =>
      queues.withOrgLocked(invitation.orgId, orgNotFound(invitation.orgId), async (sql) => {
        const { tokenHash, orgId, email, role, expiresAtMs } = invitation
        const folded = foldedEmail(email)
        assertInvitable(email, await countsOf(sql, orgId, folded, nowMs))
        await sql.rows(
          `INSERT INTO invitations (token_hash, org_id, email, email_folded, role, expires_at_ms)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (org_id, email_folded) DO UPDATE SET token_hash = excluded.token_hash,
             email = excluded.email, role = excluded.role, expires_at_ms = excluded.expires_at_ms`,
          [tokenHash, orgId, email, folded, role, expiresAtMs],
        )
        await recordAction(sql, inviteAction(invitation, by, nowMs))
      }),
    invitationOf: (tokenHash, nowMs) => invitationOf(read, tokenHash, nowMs),
    listInvitations: (orgId, nowMs) =>
      read.rows<OpenInvitation>(
        `${SELECT} WHERE i.org_id = $1 AND i.expires_at_ms > $2 ORDER BY i.email_folded`,
        [uuidOrNull(orgId), nowMs],
      ),
    withdrawInvitation: (orgId, tokenHash, by, nowMs) =>
      queues.withOrgLocked(orgId, invitationNotFound(), async (sql) => {
        const invitation = await invitationOf(sql, tokenHash, nowMs)
        if (invitation?.orgId !== orgId) throw invitationNotFound()
        await remove(sql, tokenHash)
        await recordAction(sql, withdrawAction(invitation, by, nowMs))
      }),
    acceptInvitation: async (tokenHash, acceptance, nowMs) => {
      const known = await invitationOf(read, tokenHash, nowMs)
      if (known === undefined) return undefined
      return await queues.withOrgLocked(known.orgId, orgNotFound(known.orgId), async (sql) => {
        const invitation = await invitationOf(sql, tokenHash, nowMs)
        if (invitation === undefined || !isForInvited(invitation, acceptance)) return undefined
        const { orgId, role } = invitation
        const { personId } = acceptance
        assertMayAddMember(await countOf(sql, 'memberships WHERE org_id = $1', [orgId]))
        if (!(await admitPerson(sql, invitation, acceptance, nowMs))) return undefined
        await sql.rows(
          'INSERT INTO memberships (org_id, person_id, role, created_at) VALUES ($1, $2, $3, $4)',
          [orgId, personId, role, timestamp(nowMs)],
        )
        await remove(sql, tokenHash)
        await recordAction(sql, joinAction(invitation, personId, nowMs))
        return { ...invitation, personId }
      })
    },
  }
}

function invitationOf(sql: Sql, tokenHash: Buffer, nowMs: number): Promise<OpenInvitation | undefined> {
  const text = `${SELECT} WHERE i.token_hash = $1 AND i.expires_at_ms > $2`
  return rowOf<OpenInvitation>(sql, text, [tokenHash, nowMs])
}

/**
 * Creates the person of `acceptance` if needed. False when another organisation created a person with this address
 * meanwhile.
 */
async function admitPerson(
  sql: Sql,
  { email }: OpenInvitation,
  acceptance: Acceptance,
  nowMs: number,
): Promise<boolean> {
  if (acceptance.kind === 'person') return true
  const { personId, name, passwordHash } = acceptance
  const made = await sql.rows(
    `INSERT INTO people (id, email, email_folded, name, password_hash, created_at)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (email_folded) DO NOTHING RETURNING id`,
    [personId, email, foldedEmail(email), name, passwordHash, timestamp(nowMs)],
  )
  return made.length > 0
}

async function countsOf(sql: Sql, orgId: string, folded: string, nowMs: number) {
  const row = await rowOf<{ isMember: boolean; members: number; open: number }>(
    sql,
    `SELECT EXISTS (SELECT 1 FROM memberships m JOIN people p ON p.id = m.person_id
         WHERE m.org_id = $1 AND p.email_folded = $2) AS "isMember",
       (SELECT count(*) FROM memberships WHERE org_id = $1) AS members,
       (SELECT count(*) FROM invitations WHERE org_id = $1 AND expires_at_ms > $3 AND email_folded <> $2) AS open`,
    [orgId, folded, nowMs],
  )
  return row ?? { isMember: false, members: 0, open: 0 }
}

async function remove(sql: Sql, tokenHash: Buffer): Promise<void> {
  await sql.rows('DELETE FROM invitations WHERE token_hash = $1', [tokenHash])
}
