import type { Role } from '../../../domain/accounts/roles.ts'
import type { Member, MemberStore } from '../../accountStore.ts'
import { assertOwnerLeft, isLower, memberNotFound } from '../../shared/accountRules.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import type { AuditedWrites } from '../changes/audit.ts'
import type { Connections } from '../files/openDatabase.ts'

type Methods = 'listMembers' | 'changeRole' | 'removeMember' | 'orgsWithoutOwner'

/** Memberships in SQLite. */
export function sqliteMembers(
  { reader, writer }: Connections,
  { commits, note }: AuditedWrites,
): Pick<MemberStore, Methods> {
  const known = reader.prepare<[string], number>('SELECT 1 FROM orgs WHERE id = ?').pluck()
  const list = reader.prepare<[string], Member>(
    `SELECT m.person_id AS personId, p.email, p.name, m.role, m.created_at AS createdAt,
       (SELECT max(seen_at_ms) FROM sessions WHERE person_id = m.person_id) AS seenAtMs
     FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.org_id = ? ORDER BY p.email_folded`,
  )
  const roleOf = writer
    .prepare<[string, string], Role>('SELECT role FROM memberships WHERE org_id = ? AND person_id = ?')
    .pluck()
  const owners = writer
    .prepare<[string], number>("SELECT count(*) FROM memberships WHERE org_id = ? AND role = 'owner'")
    .pluck()
  const setRole = writer.prepare('UPDATE memberships SET role = ? WHERE org_id = ? AND person_id = ?')
  const remove = writer.prepare('DELETE FROM memberships WHERE org_id = ? AND person_id = ?')
  const endSessions = writer.prepare('DELETE FROM sessions WHERE person_id = ?')
  const ownerless = reader.prepare<[], { id: string; name: string }>(
    `SELECT id, name FROM orgs o WHERE NOT EXISTS
       (SELECT 1 FROM memberships WHERE org_id = o.id AND role = 'owner') ORDER BY created_at, id`,
  )
  const memberRole = (orgId: string, personId: string): Role => {
    const role = roleOf.get(orgId, personId)
    if (role === undefined) throw memberNotFound(personId)
    return role
  }
  return {
    listMembers: async (orgId) => {
      if (known.get(orgId) === undefined) throw orgNotFound(orgId)
      return list.all(orgId)
    },
    changeRole: ({ orgId, personId, role, by, nowMs }) =>
      commits.run(() => {
        const before = memberRole(orgId, personId)
        if (before === role) return
        assertOwnerLeft(before, owners.get(orgId) ?? 0)
        setRole.run(role, orgId, personId)
        if (isLower(role, before)) endSessions.run(personId)
        const detail = { from: before, to: role }
        note({ orgId, by, action: 'member.role', targetId: personId, nowMs, detail })
      }),
    removeMember: ({ orgId, personId, by, nowMs }) =>
      commits.run(() => {
        const role = memberRole(orgId, personId)
        assertOwnerLeft(role, owners.get(orgId) ?? 0)
        remove.run(orgId, personId)
        endSessions.run(personId)
        note({ orgId, by, action: 'member.remove', targetId: personId, nowMs, detail: { role } })
      }),
    orgsWithoutOwner: async () => ownerless.all(),
  }
}
