import { cookieOf } from '../../../web/browserRequest.ts'
import { hashToken, newToken, SEEN_MS, SESSION_MS_MAX } from '../../domain/accounts/sessions.ts'
import { SESSION_COOKIE } from '../routing/cookies.ts'
import type { ConsoleRequest, Cookie, SignedIn } from '../routing/route.ts'
import { browserName } from './browserName.ts'

/** The person of the session in the header Cookie; `undefined` when there is no valid session. */
export async function signedInOf(
  { store, nowMs }: Pick<ConsoleRequest, 'store' | 'nowMs'>,
  cookieHeader: string | undefined,
): Promise<SignedIn | undefined> {
  const token = cookieOf(cookieHeader, SESSION_COOKIE)
  if (token === undefined || token === '') return undefined
  const found = await store.sessionOf(hashToken(token), nowMs)
  if (found === undefined) return undefined
  const { session, person } = found
  if (nowMs - session.seenAtMs >= SEEN_MS) await store.touchSession(session.idHash, nowMs)
  return { session, person, memberships: await store.membershipsOf(person.id) }
}

/**
 * Opens a session for a person who has just given the password with the hash `passwordHash`, and returns its cookie.
 * `undefined` when the password has changed meanwhile.
 */
export async function openSession(
  { store, environment, nowMs, headers }: ConsoleRequest,
  personId: string,
  passwordHash: string,
): Promise<Cookie | undefined> {
  const token = newToken(environment.randomBytes)
  const session = {
    ...{ idHash: hashToken(token), personId, browser: browserName(headers['user-agent']) },
    ...{ createdAtMs: nowMs, seenAtMs: nowMs, elevatedAtMs: nowMs },
  }
  return (await store.openSession(session, passwordHash)) ? sessionCookie(token) : undefined
}

/** The cookie of a session. Pure. */
export function sessionCookie(token: string): Cookie {
  return { name: SESSION_COOKIE, value: token, maxAgeS: SESSION_MS_MAX / 1_000 }
}
