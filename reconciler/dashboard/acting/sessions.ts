import { createHash, randomBytes } from 'node:crypto'
import type { Message } from '../viewer.ts'

/** Lifetime of a session (milliseconds). */
export const SESSION_MS = 12 * 3_600_000
/** Maximum of sessions; the oldest one ends for the next. */
const SESSIONS_MAX = 100

/** The session of a user. */
export interface Session {
  /** Entered by the user; recorded as the actor. */
  readonly name: string
  /** Shown on the next page. */
  message: Message | null
}

/** Sessions in memory, of which only digests of the secrets are stored. `nowMs` is a monotonic clock (milliseconds). */
export function memorySessions(nowMs: () => number) {
  // In the order of creation, which is also that of expiry.
  const byDigest = new Map<string, { readonly session: Session; readonly endsAtMs: number }>()
  const removeOver = (): void => {
    for (const [digest, { endsAtMs }] of byDigest) {
      if (endsAtMs > nowMs() && byDigest.size <= SESSIONS_MAX) break
      byDigest.delete(digest)
    }
  }
  return {
    /** Opens a session; returns its secret (base64url, 256 bits). */
    open: (name: string): string => {
      const secret = randomBytes(32).toString('base64url')
      byDigest.set(digestOf(secret), { session: { name, message: null }, endsAtMs: nowMs() + SESSION_MS })
      removeOver()
      return secret
    },
    /** The session of `secret`; null when there is none or it has expired. */
    find: (secret: string | undefined): Session | null => {
      removeOver()
      return secret === undefined ? null : (byDigest.get(digestOf(secret))?.session ?? null)
    },
    end: (secret: string | undefined): void => {
      if (secret !== undefined) byDigest.delete(digestOf(secret))
    },
  }
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
