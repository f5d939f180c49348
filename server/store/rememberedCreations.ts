import { timingSafeEqual } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { ApiError } from '../../api/contract/apiError.ts'
import type { CreationMark } from './store.ts'

/** How long a creation is remembered by its Idempotency-Key (milliseconds). Gap G20. */
export const REMEMBERED_MS = 24 * 60 * 60 * 1_000

/** Gives the answer that a creation got before, or makes and remembers it; both in the caller's transaction. */
export type Remember = (
  orgId: string,
  mark: CreationMark | undefined,
  nowMs: number,
  create: () => string,
) => string

/**
 * Prepares the memory of creations. A creation that fails is not remembered: nothing happened, and asking
 * again may succeed. Throws `invalid` when the mark was used for another body.
 */
export function prepareRemember(database: Database): Remember {
  const select = database.prepare<
    [string, Buffer],
    { bodyMark: Buffer; answer: string; createdAtMs: number }
  >(`SELECT body_mark AS bodyMark, answer, created_at_ms AS createdAtMs
     FROM remembered_creations WHERE org_id = ? AND key_hash = ?`)
  const insert = database.prepare(
    `INSERT INTO remembered_creations (org_id, key_hash, body_mark, answer, created_at_ms)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (org_id, key_hash) DO UPDATE SET
       body_mark = excluded.body_mark, answer = excluded.answer, created_at_ms = excluded.created_at_ms`,
  )
  return (orgId, mark, nowMs, create) => {
    if (mark === undefined) return create()
    const earlier = select.get(orgId, mark.keyHash)
    if (earlier !== undefined && nowMs - earlier.createdAtMs < REMEMBERED_MS) {
      if (!timingSafeEqual(earlier.bodyMark, mark.bodyMark)) {
        throw new ApiError('invalid', 'Idempotency-Key: was already used for another body')
      }
      return earlier.answer
    }
    const answer = create()
    insert.run(orgId, mark.keyHash, mark.bodyMark, answer, nowMs)
    return answer
  }
}
