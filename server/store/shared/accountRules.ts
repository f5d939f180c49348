import { ApiError } from '../../../api/contract/apiError.ts'
import { ROLES, type Role } from '../../domain/accounts/roles.ts'
import type { Acceptance, NewInvitation, OpenInvitation } from '../accountStore.ts'
import type { AuditedAction } from './auditedAction.ts'

/** Maximum number of members of an organisation, and of open invitations. */
const MEMBERS_MAX = 200
const INVITATIONS_MAX = 20
/** Maximum number of sessions of a person, because a page lists all of them. Gap G54. */
export const SESSIONS_MAX = 50

/** Throws `invalid` when an organisation cannot have more than `members` members. */
export function assertMayAddMember(members: number): void {
  if (members < MEMBERS_MAX) return
  throw new ApiError('invalid', `an organisation has at most ${MEMBERS_MAX} members`)
}

/** Counts for an invitation to an organisation. `open` counts its other open invitations. */
interface InvitationCounts {
  readonly isMember: boolean
  readonly members: number
  readonly open: number
}

/** Throws `invalid` when `email` cannot be invited to an organisation. */
export function assertInvitable(email: string, { isMember, members, open }: InvitationCounts): void {
  if (isMember) throw new ApiError('invalid', `${email} is a member of the organisation already`)
  assertMayAddMember(members)
  if (open >= INVITATIONS_MAX) {
    throw new ApiError('invalid', `an organisation has at most ${INVITATIONS_MAX} open invitations`)
  }
}

/** Whether the person who accepts has the invited address, or is new and the address is free. Pure. */
export function isForInvited({ personId }: OpenInvitation, acceptance: Acceptance): boolean {
  return acceptance.kind === 'person' ? acceptance.personId === personId : personId === null
}

/** Throws `invalid` when a member of `role` is the last owner. */
export function assertOwnerLeft(role: Role, owners: number): void {
  if (role !== 'owner' || owners > 1) return
  throw new ApiError('invalid', 'the last owner must stay: make another member an owner first')
}

/** Whether the role `to` permits less than `from`. Pure. */
export function isLower(to: Role, from: Role): boolean {
  return ROLES.indexOf(to) < ROLES.indexOf(from)
}

/** The error for a person who is no member. Pure. */
export function memberNotFound(personId: string): ApiError {
  return new ApiError('not_found', `the organisation has no member ${personId}`)
}

/** The error for an address without a person. Pure. */
export function personNotFound(email: string): ApiError {
  return new ApiError('not_found', `there is no person with the address ${email}`)
}

/** The error for an invitation that is not open, or belongs to another organisation. Pure. */
export function invitationNotFound(): ApiError {
  return new ApiError('not_found', 'there is no such invitation')
}

/** The audit entry of an invitation; without the address, which is personal data. Pure. */
export function inviteAction(
  invitation: NewInvitation,
  by: AuditedAction['by'],
  nowMs: number,
): AuditedAction {
  const { orgId, role, tokenHash } = invitation
  return {
    orgId,
    by,
    action: 'invitation.create',
    targetId: tokenHash.toString('hex'),
    nowMs,
    detail: { role },
  }
}

/** The audit entry of a withdrawn invitation. Pure. */
export function withdrawAction(
  { orgId, tokenHash }: Pick<OpenInvitation, 'orgId' | 'tokenHash'>,
  by: AuditedAction['by'],
  nowMs: number,
): AuditedAction {
  return { orgId, by, action: 'invitation.withdraw', targetId: tokenHash.toString('hex'), nowMs }
}

/** The audit entry of an accepted invitation. Pure. */
export function joinAction(
  { orgId, role, tokenHash }: OpenInvitation,
  personId: string,
  nowMs: number,
): AuditedAction {
  const detail = { role, invitation: tokenHash.toString('hex') }
  const by = { kind: 'person', id: personId } as const
  return { orgId, by, action: 'member.join', targetId: personId, nowMs, detail }
}
