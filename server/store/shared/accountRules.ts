import { ApiError } from '../../../api/contract/apiError.ts'
import { type Role, ROLES } from '../../domain/accounts/roles.ts'
import type { Acceptance, NewInvitation, OpenInvitation } from '../accountStore.ts'
import type { Act } from './act.ts'

/** Most members of an organisation, and most open invitations. */
const MEMBERS_MAX = 200
const INVITATIONS_MAX = 20
/** Most sessions of a person: their page lists them. Gap G54. */
export const SESSIONS_MAX = 50

/** Throws `invalid` when an organisation with this number of members has no room for another. */
export function assertMemberRoom(members: number): void {
  if (members < MEMBERS_MAX) return
  throw new ApiError('invalid', `an organisation has at most ${MEMBERS_MAX} members`)
}

/** Members and invitations of an organisation at an invitation. `open` counts its other open invitations. */
interface InvitationStanding {
  readonly isMember: boolean
  readonly members: number
  readonly open: number
}

/** Throws `invalid` when `email` cannot be invited to an organisation. */
export function assertInvitable(email: string, { isMember, members, open }: InvitationStanding): void {
  if (isMember) throw new ApiError('invalid', `${email} is a member of the organisation already`)
  assertMemberRoom(members)
  if (open >= INVITATIONS_MAX) {
    throw new ApiError('invalid', `an organisation has at most ${INVITATIONS_MAX} open invitations`)
  }
}

/** Whether `acceptance` is of the person who has the address of `invitation`, or that address has no person yet. Pure. */
export function isForInvited({ personId }: OpenInvitation, acceptance: Acceptance): boolean {
  return acceptance.kind === 'person' ? acceptance.personId === personId : personId === null
}

/** Throws `invalid` when an organisation with this number of owners would lose its last one with a member of `role`. */
export function assertOwnerLeft(role: Role, owners: number): void {
  if (role !== 'owner' || owners > 1) return
  throw new ApiError('invalid', 'the last owner must stay: make another member an owner first')
}

/** Whether the role `to` permits less than `from`. Pure. */
export function isLower(to: Role, from: Role): boolean {
  return ROLES.indexOf(to) < ROLES.indexOf(from)
}

/** The refusal of a person who is no member. Pure. */
export function noMember(personId: string): ApiError {
  return new ApiError('not_found', `the organisation has no member ${personId}`)
}

/** The refusal of an address without a person. Pure. */
export function noPerson(email: string): ApiError {
  return new ApiError('not_found', `there is no person with the address ${email}`)
}

/** The refusal of an invitation that is not open, or of another organisation. Pure. */
export function noInvitation(): ApiError {
  return new ApiError('not_found', 'there is no such invitation')
}

/** The entry of an invitation. The audit log names no addresses of people. Pure. */
export function inviteAct(invitation: NewInvitation, by: Act['by'], nowMs: number): Act {
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

/** The entry of an invitation that is withdrawn. Pure. */
export function withdrawAct(
  { orgId, tokenHash }: Pick<OpenInvitation, 'orgId' | 'tokenHash'>,
  by: Act['by'],
  nowMs: number,
): Act {
  return { orgId, by, action: 'invitation.withdraw', targetId: tokenHash.toString('hex'), nowMs }
}

/** The entry of a person who accepts an invitation. Pure. */
export function joinAct({ orgId, role, tokenHash }: OpenInvitation, personId: string, nowMs: number): Act {
  const detail = { role, invitation: tokenHash.toString('hex') }
  const by = { kind: 'person', id: personId } as const
  return { orgId, by, action: 'member.join', targetId: personId, nowMs, detail }
}
