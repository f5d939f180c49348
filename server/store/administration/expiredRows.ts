import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../domain/accounts/sessions.ts'
import { rows, type Scripts } from '../scripts/script.ts'
import { IDEMPOTENCY_MS } from '../shared/storedCreation.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** How long ended deliveries are kept (milliseconds). Gap G9. */
const SENT_KEPT_MS = 7 * DAY_MS
const FAILED_KEPT_MS = 30 * DAY_MS
/** Retention of certificate notices after the certificate expires (seconds). */
const NOTICES_KEPT_S = (90 * DAY_MS) / 1_000
/** Maximum number of rows deleted in one transaction: SQLite handles no request meanwhile. */
const DELETED_AT_ONCE = 1_000

/** Deletes expired rows, in small parts. Several programs may do so at once. */
export async function removeExpired({ write }: Scripts, nowMs: number): Promise<void> {
  for (const { table, key, condition, limit } of expired(nowMs)) {
    const text = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition}
      LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING 1 AS deleted`
    while ((await write(() => rows(text, [limit]))).length > 0) {}
  }
}

interface Expired {
  readonly table: string
  readonly key: string
  /** Whether a row has expired, by the limit `$1`. */
  readonly condition: string
  readonly limit: number
}

function expired(nowMs: number): readonly Expired[] {
  const sessions = { table: 'sessions', key: 'id_hash' }
  const deliveries = { table: 'deliveries', key: 'event_seq, channel_id' }
  return [
    {
      ...{ table: 'remembered_creations', key: 'org_id, key_hash' },
      ...{ condition: 'created_at_ms < $1', limit: nowMs - IDEMPOTENCY_MS },
    },
    { ...deliveries, condition: "state = 'sent' AND ended_ms < $1", limit: nowMs - SENT_KEPT_MS },
    { ...deliveries, condition: "state = 'failed' AND ended_ms < $1", limit: nowMs - FAILED_KEPT_MS },
    {
      ...{ table: 'events', key: 'seq', limit: nowMs - SENT_KEPT_MS },
      condition: 'at_ms < $1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_seq = events.seq)',
    },
    { ...sessions, condition: 'seen_at_ms <= $1', limit: nowMs - SESSION_IDLE_MS },
    { ...sessions, condition: 'created_at_ms <= $1', limit: nowMs - SESSION_MS_MAX },
    { table: 'invitations', key: 'token_hash', condition: 'expires_at_ms <= $1', limit: nowMs },
    { table: 'password_resets', key: 'token_hash', condition: 'expires_at_ms <= $1', limit: nowMs },
    {
      ...{ table: 'certificate_notices', key: 'org_id, host, port, fingerprint, threshold_s' },
      ...{ condition: 'not_after_s < $1', limit: Math.floor(nowMs / 1_000) - NOTICES_KEPT_S },
    },
  ]
}
