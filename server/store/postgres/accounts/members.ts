import type { Role } from '../../../domain/accounts/roles.ts'
import type { Member, MemberStore } from '../../accountStore.ts'
import { assertOwnerLeft, isLower, memberNotFound } from '../../shared/accountRules.ts'
import { rowOf, type Sql, uuidOrNull } from '../connections/sql.ts'
import { recordAction } from '../writes/auditWrites.ts'
import { assertOrg } from '../writes/ownership.ts'
import type { StoreParts } from '../writes/storeParts.ts'

type Methods = 'listMembers' | 'changeRole' | 'removeMember' | 'orgsWithoutOwner'

/** Memberships in PostgreSQL. */
export function postgresMembers({ pools: { read }, queues }: StoreParts): Pick<MemberStore, Methods> {
  return {
    listMembers: async (orgId) => {
      const id = uuidOrNull(orgId)
      await assertOrg(read, orgId)
      return await read.rows<Member>(
        `SELECT m.person_id AS "personId", p.email, p.name, m.role, m.created_at AS "createdAt",
           (SELECT max(seen_at_ms) FROM sessions WHERE person_id = m.person_id) AS "seenAtMs"
         FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.org_id = $1 ORDER BY p.email_folded`,
        [id],
      )
    },
    changeRole: ({ orgId, personId, role, by, nowMs }) =>
      queues.withOrgLocked(orgId, memberNotFound(personId), async (sql) => {
        const { role: before, owners } = await memberNow(sql, orgId, personId)
        if (before === role) return
        assertOwnerLeft(before, owners)
        const text = 'UPDATE memberships SET role = $3 WHERE org_id = $1 AND person_id = $2'
        await sql.rows(text, [orgId, personId, role])
        if (isLower(role, before)) await endSessions(sql, personId)
        const detail = { from: before, to: role }
        await recordAction(sql, { orgId, by, action: 'member.role', targetId: personId, nowMs, detail })
      }),
    removeMember: ({ orgId, personId, by, nowMs }) =>
      queues.withOrgLocked(orgId, memberNotFound(personId), async (sql) => {
        const { role, owners } = await memberNow(sql, orgId, personId)
        assertOwnerLeft(role, owners)
        await sql.rows('DELETE FROM memberships WHERE org_id = $1 AND person_id = $2', [orgId, personId])
        await endSessions(sql, personId)
        await recordAction(sql, {
          orgId,
          by,
          action: 'member.remove',
          targetId: personId,
          nowMs,
          detail: { role },
        })
      }),
    orgsWithoutOwner: () =>
      read.rows<{ id: string; name: string }>(
        `SELECT id, name FROM orgs o WHERE NOT EXISTS
           (SELECT 1 FROM memberships WHERE org_id = o.id AND role = 'owner') ORDER BY created_at, id`,
      ),
  }
}

/** The role of a member, and the number of owners of the organisation. The caller has locked the organisation. */
async function memberNow(sql: Sql, orgId: string, personId: string) {
  const member = await rowOf<{ role: Role; owners: number }>(
    sql,
    `SELECT role, (SELECT count(*) FROM memberships WHERE org_id = $1 AND role = 'owner') AS owners
     FROM memberships WHERE org_id = $1 AND person_id = $2`,
    [orgId, uuidOrNull(personId)],
  )
  if (member === undefined) throw memberNotFound(personId)
  return member
}

async function endSessions(sql: Sql, personId: string): Promise<void> {
  await sql.rows('DELETE FROM sessions WHERE person_id = $1', [personId])
}
