import type { Role } from '../domain/accounts/roles.ts'
import type { SessionTimes } from '../domain/accounts/sessions.ts'
import type { Actor } from '../domain/accounts/actor.ts'

/** How a person wants the colours of the console; `auto` follows the device. */
export const LOOKS = ['auto', 'light', 'dark'] as const
export type Look = (typeof LOOKS)[number]

/** A person with an account. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly look: Look
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

/** An invitation to be stored. */
export interface NewInvitation {
  readonly tokenHash: Buffer
  readonly orgId: string
  readonly email: string
  readonly role: Role
  readonly expiresAtMs: number
}

/** An invitation that can be accepted. */
export interface OpenInvitation {
  readonly tokenHash: Buffer
  readonly orgId: string
  readonly orgName: string
  readonly email: string
  readonly role: Role
  readonly expiresAtMs: number
  /** The person who has the address already; `null` when there is none. */
  readonly personId: string | null
}

/** Who accepts an invitation: a person with an account, or a new one. */
export type Acceptance =
  | { readonly kind: 'person'; readonly personId: string }
  | {
      readonly kind: 'new'
      readonly personId: string
      readonly name: string
      readonly passwordHash: string
    }

/** People and their passwords. */
export interface PeopleStore {
  personWithEmail(
    email: string,
  ): Promise<{ readonly person: Person; readonly passwordHash: string | null } | undefined>
  passwordHashOf(personId: string): Promise<string | null | undefined>
  membershipsOf(personId: string): Promise<readonly Membership[]>
  /** Replaces the password and ends all sessions, if `from` still is its hash; whether it was. */
  setPassword(change: {
    readonly personId: string
    readonly from: string | null
    readonly passwordHash: string
    readonly by: Actor
    readonly nowMs: number
  }): Promise<boolean>
  /** Replaces the hash of an unchanged password. */
  replacePasswordHash(personId: string, from: string, to: string): Promise<void>
  setLook(personId: string, look: Look): Promise<void>
  /** Stores a link that sets a new password, in place of an earlier one; rejects with `not_found` for an unknown address. */
  startReset(reset: {
    readonly email: string
    readonly tokenHash: Buffer
    readonly expiresAtMs: number
    readonly by: Actor
    readonly nowMs: number
  }): Promise<void>
  /** The person whose password a link sets; `undefined` when it was used or has expired. */
  personOfReset(tokenHash: Buffer, nowMs: number): Promise<Person | undefined>
  /** Sets the password by a link, once, and ends all sessions; `undefined` as for `personOfReset`. */
  resetPassword(tokenHash: Buffer, passwordHash: string, nowMs: number): Promise<Person | undefined>
}

/** Sessions of the console. They are looked up at each request: what ends one takes effect with the next. */
export interface SessionStore {
  /**
   * Opens a session, if `passwordHash` still is that of the person; whether it was. A check of a password takes time, in
   * which a change of the password may end all sessions.
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
  /** Ends one session of a person; one that has ended already is no error. */
  endSession(personId: string, idHash: Buffer): Promise<void>
  /** Ends all sessions of a person; resolves to their number. */
  endSessions(personId: string, by: Actor, nowMs: number): Promise<number>
}

/** Members of organisations, and invitations. Methods reject with `not_found` for an unknown organisation or person. */
export interface MemberStore {
  listMembers(orgId: string): Promise<readonly Member[]>
  /** Rejects with `invalid` for the last owner. A lowered role ends the sessions of the person. */
  changeRole(change: {
    readonly orgId: string
    readonly personId: string
    readonly role: Role
    readonly by: Actor
    readonly nowMs: number
  }): Promise<void>
  /** Ends the membership and the sessions of the person. Rejects with `invalid` for the last owner. */
  removeMember(removal: {
    readonly orgId: string
    readonly personId: string
    readonly by: Actor
    readonly nowMs: number
  }): Promise<void>
  /** Replaces an open invitation of the same address. Rejects with `invalid` for a member, and when there are too many. */
  invite(invitation: NewInvitation, by: Actor, nowMs: number): Promise<void>
  /** `undefined` when it is unknown, used, withdrawn or expired. */
  invitationOf(tokenHash: Buffer, nowMs: number): Promise<OpenInvitation | undefined>
  listInvitations(orgId: string, nowMs: number): Promise<readonly OpenInvitation[]>
  withdrawInvitation(orgId: string, tokenHash: Buffer, by: Actor, nowMs: number): Promise<void>
  /** Makes the membership, and the person if it is new. `undefined` when the invitation is not open any more. */
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
