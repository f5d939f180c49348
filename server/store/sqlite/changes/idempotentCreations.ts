import type { Database } from 'better-sqlite3'
import {
  LONG_RESPONSE_BYTES,
  LONG_RESPONSES_BYTES_MAX,
  SHORT_RESPONSES_MAX,
  type StoredCreation,
  storedResponse,
} from '../../shared/storedCreation.ts'
import type { CreationFingerprint } from '../../store.ts'

/** Limits of the stored responses of an organisation; the defaults for absent members. */
interface Bounds {
  readonly longBytesMax?: number
  readonly shortMax?: number
}

/** Returns the stored response of a creation, or creates and stores it; both in the caller's transaction. */
export type CreateIdempotently = (
  orgId: string,
  fingerprint: CreationFingerprint | undefined,
  nowMs: number,
  create: () => string,
) => string

/**
 * Prepares storing the responses of creations. A failed creation is not stored: nothing happened, and a retry may
 * succeed. Throws `invalid` when the key was used for another body.
 */
export function prepareIdempotency(database: Database, bounds: Bounds = {}): CreateIdempotently {
  const limitLong = prepareLimit(database, bounds.longBytesMax ?? LONG_RESPONSES_BYTES_MAX)
  const numberShort = prepareNumbering(database, bounds.shortMax ?? SHORT_RESPONSES_MAX)
  const select = database.prepare<[string, Buffer], StoredCreation>(
    `SELECT body_mark AS bodyFingerprint, answer AS response, created_at_ms AS createdAtMs
     FROM remembered_creations WHERE org_id = ? AND key_hash = ?`,
  )
  const insert = database.prepare(
    `INSERT INTO remembered_creations (org_id, key_hash, body_mark, answer, created_at_ms, long_bytes, number)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (org_id, key_hash) DO UPDATE SET body_mark = excluded.body_mark, answer = excluded.answer,
       created_at_ms = excluded.created_at_ms, long_bytes = excluded.long_bytes, number = excluded.number`,
  )
  return (orgId, fingerprint, nowMs, create) => {
    if (fingerprint === undefined) return create()
    const earlier = storedResponse(select.get(orgId, fingerprint.keyHash), fingerprint, nowMs)
    if (earlier !== undefined) return earlier
    const response = create()
    const bytes = Buffer.byteLength(response)
    const isLong = bytes > LONG_RESPONSE_BYTES
    const [longBytes, number] = isLong ? [bytes, null] : [null, numberShort(orgId)]
    insert.run(orgId, fingerprint.keyHash, fingerprint.bodyFingerprint, response, nowMs, longBytes, number)
    if (isLong) limitLong(orgId)
    return response
  }
}

/**
 * Numbers the next short response of an organisation, and deletes responses that are `max` or more behind. Counting
 * them each time would take time proportional to their number.
 */
function prepareNumbering(database: Database, max: number): (orgId: string) => number {
  const newest = database
    .prepare<[string], number | null>(
      'SELECT max(number) FROM remembered_creations WHERE org_id = ? AND number IS NOT NULL',
    )
    .pluck()
  const forget = database.prepare(
    'DELETE FROM remembered_creations WHERE org_id = ? AND number IS NOT NULL AND number <= ?',
  )
  return (orgId) => {
    const number = (newest.get(orgId) ?? 0) + 1
    forget.run(orgId, number - max)
    return number
  }
}

/** Deletes the oldest long responses of an organisation, as far as their total exceeds `bytesMax`. */
function prepareLimit(database: Database, bytesMax: number): (orgId: string) => void {
  const long = 'org_id = @orgId AND long_bytes IS NOT NULL'
  const total = database
    .prepare<{ orgId: string }, number>(`SELECT sum(long_bytes) FROM remembered_creations WHERE ${long}`)
    .pluck()
  const forgetOldest = database
    .prepare<{ orgId: string }, number>(
      `DELETE FROM remembered_creations WHERE org_id = @orgId AND key_hash =
         (SELECT key_hash FROM remembered_creations WHERE ${long} ORDER BY created_at_ms LIMIT 1)
       RETURNING long_bytes`,
    )
    .pluck()
  return (orgId) => {
    // Summed up once: a single long response may displace a hundred short ones.
    let excess = (total.get({ orgId }) ?? 0) - bytesMax
    while (excess > 0) excess -= forgetOldest.get({ orgId }) ?? excess
  }
}
