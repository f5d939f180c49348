import * as crypto from 'node:crypto'

/** Number of random bytes in the token of a session, an invitation or a reset. */
const TOKEN_BYTES = 32
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Time without a request after which a session ends (milliseconds). */
export const SESSION_IDLE_MS = 12 * HOUR_MS
/** Maximum duration of a session (milliseconds). */
export const SESSION_MS_MAX = 30 * DAY_MS
/** Time for which a confirmed password permits actions that need it (milliseconds). */
export const ELEVATION_MS = 15 * MINUTE_MS
/**
 * Minimum interval between records of a session's use (milliseconds), because a commit for each request would be too
 * many.
 */
export const SEEN_MS = MINUTE_MS
/** Validity of an invitation to an organisation (milliseconds). */
export const INVITATION_MS = 7 * DAY_MS
/**
 * Validity of links that the command line prints, which are a first owner's invitation and a password reset
 * (milliseconds).
 */
export const OPERATOR_LINK_MS = DAY_MS

/** A new token: 256 random bits as base64url. Only its hash is stored. */
export function newToken(randomBytes: (size: number) => Buffer): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** The stored form of a token. Pure. */
export function hashToken(token: string): Buffer {
  return crypto.hash('sha256', token, 'buffer')
}

/**
 * A new token for a link that is valid for `validMs`, with its stored form and its end (milliseconds since the epoch).
 */
export function newLink(
  { nowMs, randomBytes }: { readonly nowMs: () => number; readonly randomBytes: (size: number) => Buffer },
  validMs: number,
) {
  const token = newToken(randomBytes)
  return { token, tokenHash: hashToken(token), expiresAtMs: nowMs() + validMs }
}

/** Times of a session (milliseconds since the epoch). */
export interface SessionTimes {
  readonly createdAtMs: number
  readonly seenAtMs: number
  /** Time when the password was last given; `null` when never. */
  readonly elevatedAtMs: number | null
}

/** Whether a session is still valid. Pure. */
export function isSessionValid({ createdAtMs, seenAtMs }: SessionTimes, nowMs: number): boolean {
  return nowMs < seenAtMs + SESSION_IDLE_MS && nowMs < createdAtMs + SESSION_MS_MAX
}

/** Whether actions that need the password are permitted without entering it again. Pure. */
export function isElevated({ elevatedAtMs }: SessionTimes, nowMs: number): boolean {
  return elevatedAtMs !== null && nowMs < elevatedAtMs + ELEVATION_MS
}
