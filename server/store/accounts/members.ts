import { ApiError } from '../../../api/contract/apiError.ts'
import { ROLES, type Role } from '../../domain/accounts/roles.ts'
import type { Member, MemberStore } from '../accountStore.ts'
import { recordAction } from '../scripts/auditScripts.ts'
import { assertOrg } from '../scripts/orgScripts.ts'
import { row, rows, run, type Script, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'

/** Memberships. */
export function members({ read, withOrgLocked }: Scripts) {
  return {
    listMembers: (orgId) =>
      read(function* () {
        yield* assertOrg(orgId)
        return yield* rows<Member>(
          `SELECT m.person_id AS "personId", p.email, p.name, m.role, m.created_at AS "createdAt",
             (SELECT max(seen_at_ms) FROM sessions WHERE person_id = m.person_id) AS "seenAtMs"
           FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.org_id = $1 ORDER BY p.email_folded`,
          [orgId],
        )
      }),
    changeRole: ({ orgId, personId, role, by, nowMs }) =>
      withOrgLocked(orgId, memberNotFound(personId), function* () {
        const { role: before, owners } = yield* memberNow(orgId, personId)
        if (before === role) return
        assertOwnerLeft(before, owners)
        const text = 'UPDATE memberships SET role = $3 WHERE org_id = $1 AND person_id = $2'
        yield* run(text, [orgId, personId, role])
        if (isLower(role, before)) yield* endSessions(personId)
        const detail = { from: before, to: role }
        yield* recordAction({ orgId, by, action: 'member.role', targetId: personId, nowMs, detail })
      }),
    removeMember: ({ orgId, personId, by, nowMs }) =>
      withOrgLocked(orgId, memberNotFound(personId), function* () {
        const { role, owners } = yield* memberNow(orgId, personId)
        assertOwnerLeft(role, owners)
        yield* run('DELETE FROM memberships WHERE org_id = $1 AND person_id = $2', [orgId, personId])
        yield* endSessions(personId)
        const detail = { role }
        yield* recordAction({ orgId, by, action: 'member.remove', targetId: personId, nowMs, detail })
      }),
    orgsWithoutOwner: () =>
      read(() =>
        rows<{ id: string; name: string }>(
          `SELECT id, name FROM orgs o WHERE NOT EXISTS
             (SELECT 1 FROM memberships WHERE org_id = o.id AND role = 'owner') ORDER BY created_at, id`,
          [],
        ),
      ),
  } satisfies Partial<MemberStore>
}

/** The role of a member, and the number of owners of the organisation, which the caller has locked. */
function* memberNow(
  orgId: string,
  personId: string,
): Script<{ readonly role: Role; readonly owners: number }> {
  const member = yield* row<{ role: Role; owners: number }>(
    `SELECT role, (SELECT count(*) FROM memberships WHERE org_id = $1 AND role = 'owner') AS owners
     FROM memberships WHERE org_id = $1 AND person_id = $2`,
    [orgId, uuidOrNull(personId)],
  )
  if (member === undefined) throw memberNotFound(personId)
  return member
}

function endSessions(personId: string): Script<void> {
  return run('DELETE FROM sessions WHERE person_id = $1', [personId])
}

/** Throws `invalid` when a member of `role` is the last owner. */
function assertOwnerLeft(role: Role, owners: number): void {
  if (role !== 'owner' || owners > 1) return
  throw new ApiError('invalid', 'the last owner must stay: make another member an owner first')
}

/** Whether the role `to` permits less than `from`. Pure. */
function isLower(to: Role, from: Role): boolean {
  return ROLES.indexOf(to) < ROLES.indexOf(from)
}

function memberNotFound(personId: string): ApiError {
  return new ApiError('not_found', `the organisation has no member ${personId}`)
}
