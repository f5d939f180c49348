import { createHash, randomBytes } from 'node:crypto'
import type { Message } from '../viewer.ts'

/** How long a person stays signed in (milliseconds). */
export const SESSION_MS = 12 * 3_600_000
/** Most sessions at a time; the oldest one ends for the next. */
const SESSIONS_MAX = 100

/** A person who is signed in. */
export interface Session {
  /** As the person gave it; recorded as the actor. */
  readonly name: string
  /** Shown on the next page. */
  message: Message | null
}

/** The people who are signed in to the pages of this process. */
export interface Sessions {
  /** Signs a person in; the secret of the new session (base64url, 256 bits). */
  readonly open: (name: string) => string
  /** The session of `secret`; null when there is none, or when it is over. */
  readonly find: (secret: string | undefined) => Session | null
  readonly end: (secret: string | undefined) => void
}

/** Sessions in memory, of which only digests of the secrets are stored. `nowMs` is a monotonic clock (milliseconds). */
export function memorySessions(nowMs: () => number): Sessions {
  // In the order in which they were opened, which is the one in which they end.
  const byDigest = new Map<string, { readonly session: Session; readonly endsAtMs: number }>()
  const removeOver = (): void => {
    for (const [digest, { endsAtMs }] of byDigest) {
      if (endsAtMs > nowMs() && byDigest.size <= SESSIONS_MAX) break
      byDigest.delete(digest)
    }
  }
  return {
    open: (name) => {
      const secret = randomBytes(32).toString('base64url')
      byDigest.set(digestOf(secret), { session: { name, message: null }, endsAtMs: nowMs() + SESSION_MS })
      removeOver()
      return secret
    },
    find: (secret) => {
      removeOver()
      return secret === undefined ? null : (byDigest.get(digestOf(secret))?.session ?? null)
    },
    end: (secret) => {
      if (secret !== undefined) byDigest.delete(digestOf(secret))
    },
  }
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
