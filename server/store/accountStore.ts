import type { Actor } from '../domain/accounts/actor.ts'
import type { Role } from '../domain/accounts/roles.ts'
import type { SessionTimes } from '../domain/accounts/sessions.ts'

/** Colour scheme of the console for a person; `auto` follows the device. */
export const COLOUR_SCHEMES = ['auto', 'light', 'dark'] as const
export type ColourScheme = (typeof COLOUR_SCHEMES)[number]

/** A person with an account. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly look: ColourScheme
}

/** An organisation that a person belongs to. */
export interface Membership {
  readonly orgId: string
  readonly orgName: string
  readonly plan: string
  readonly role: Role
}

/** A person of an organisation. */
export interface Member {
  readonly personId: string
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly createdAt: string
  /** Last use of a session (milliseconds since the epoch); `null` without one. */
  readonly seenAtMs: number | null
}

/** A session by the hash of its token. */
export interface StoredSession extends SessionTimes {
  readonly idHash: Buffer
  readonly personId: string
  /** Browser and system, parsed from User-Agent. */
  readonly browser: string
}

/** An invitation to store. */
export interface NewInvitation {
  readonly tokenHash: Buffer
  readonly orgId: string
  readonly email: string
  readonly role: Role
  readonly expiresAtMs: number
}

/** An invitation that can be accepted. */
export interface OpenInvitation extends NewInvitation {
  readonly orgName: string
  /** The person with this address; `null` when there is none. */
  readonly personId: string | null
}

/** The person who accepts an invitation: one with an account, or a new one. */
export type Acceptance =
  | { readonly kind: 'person'; readonly personId: string }
  | {
      readonly kind: 'new'
      readonly personId: string
      readonly name: string
      readonly passwordHash: string
    }

/** A change of a membership, with its author. */
export interface MemberChange {
  readonly orgId: string
  readonly personId: string
  readonly by: Actor
  readonly nowMs: number
}

/** People and their passwords. */
export interface PeopleStore {
  personWithEmail(
    email: string,
  ): Promise<{ readonly person: Person; readonly passwordHash: string | null } | undefined>
  passwordHashOf(personId: string): Promise<string | null | undefined>
  membershipsOf(personId: string): Promise<readonly Membership[]>
  /** Replaces the password and ends all sessions, if `from` is still its hash; resolves to whether it was. */
  setPassword(
    change: Omit<MemberChange, 'orgId'> & { readonly from: string | null; readonly passwordHash: string },
  ): Promise<boolean>
  /** Replaces the hash of an unchanged password. */
  replacePasswordHash(personId: string, from: string, to: string): Promise<void>
  setColourScheme(personId: string, look: ColourScheme): Promise<void>
  /** Stores a link that resets the password, replacing an earlier one. Rejects with `not_found` for an unknown address. */
  startReset(
    reset: Pick<NewInvitation, 'email' | 'tokenHash' | 'expiresAtMs'> & { by: Actor; nowMs: number },
  ): Promise<void>
  /** The person whose password a link resets; `undefined` when the link was used or has expired. */
  personOfReset(tokenHash: Buffer, nowMs: number): Promise<Person | undefined>
  /** Sets the password by a link, which works once, and ends all sessions; `undefined` as for `personOfReset`. */
  resetPassword(tokenHash: Buffer, passwordHash: string, nowMs: number): Promise<Person | undefined>
}

/** Sessions of the console. Every request looks its session up, so that the end of a session takes effect at once. */
export interface SessionStore {
  /**
   * Opens a session, if `passwordHash` is still that of the person; resolves to whether it was. The password may have
   * changed, and all sessions ended, while it was checked.
   */
  openSession(session: StoredSession, passwordHash: string): Promise<boolean>
  /** `undefined` when there is none, or it has expired. */
  sessionOf(
    idHash: Buffer,
    nowMs: number,
  ): Promise<{ readonly session: StoredSession; readonly person: Person } | undefined>
  /** Records a use of the session. */
  touchSession(idHash: Buffer, nowMs: number): Promise<void>
  /** Gives the session a new id and records that the password was given; false when it has ended. */
  elevateSession(idHash: Buffer, newIdHash: Buffer, nowMs: number): Promise<boolean>
  /** The sessions of a person that have not expired, the last used first. */
  sessionsOf(personId: string, nowMs: number): Promise<readonly StoredSession[]>
  /** Ends one session of a person. Ending an ended session is no error. */
  endSession(personId: string, idHash: Buffer): Promise<void>
  /** Ends all sessions of a person; resolves to their number. */
  endSessions(personId: string, by: Actor, nowMs: number): Promise<number>
}

/** Members of organisations, and invitations. Methods reject with `not_found` for an unknown organisation or person. */
export interface MemberStore {
  listMembers(orgId: string): Promise<readonly Member[]>
  /** Rejects with `invalid` for the last owner. A lowered role ends the sessions of the person. */
  changeRole(change: MemberChange & { readonly role: Role }): Promise<void>
  /** Ends the membership and the sessions of the person. Rejects with `invalid` for the last owner. */
  removeMember(removal: MemberChange): Promise<void>
  /** Replaces an open invitation of the same address. Rejects with `invalid` for a member, and when there are too many. */
  invite(invitation: NewInvitation, by: Actor, nowMs: number): Promise<void>
  /** `undefined` for an unknown, used, withdrawn or expired invitation. */
  invitationOf(tokenHash: Buffer, nowMs: number): Promise<OpenInvitation | undefined>
  listInvitations(orgId: string, nowMs: number): Promise<readonly OpenInvitation[]>
  withdrawInvitation(orgId: string, tokenHash: Buffer, by: Actor, nowMs: number): Promise<void>
  /** Creates the membership, and the person if needed. `undefined` when the invitation is no longer open. */
  acceptInvitation(
    tokenHash: Buffer,
    acceptance: Acceptance,
    nowMs: number,
  ): Promise<OpenInvitation | undefined>
  /** Organisations without an owner, in creation order. */
  orgsWithoutOwner(): Promise<readonly { readonly id: string; readonly name: string }[]>
}

/** Accounts of the console. */
export interface AccountStore extends PeopleStore, SessionStore, MemberStore {}
