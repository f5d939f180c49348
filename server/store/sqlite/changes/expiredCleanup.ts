import type { Database } from 'better-sqlite3'
import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../../domain/accounts/sessions.ts'

/**
 * Prepares the removal of expired sessions, invitations and resets, at most `countMax` of each at a time; returns their
 * number.
 */
export function prepareExpiredCleanup(writer: Database, countMax: number): (nowMs: number) => number {
  const idle = writer.prepare(
    `DELETE FROM sessions WHERE id_hash IN
       (SELECT id_hash FROM sessions WHERE seen_at_ms <= ? ORDER BY seen_at_ms LIMIT ${countMax})`,
  )
  const old = writer.prepare(
    `DELETE FROM sessions WHERE id_hash IN (SELECT id_hash FROM sessions WHERE created_at_ms <= ? LIMIT ${countMax})`,
  )
  const invitations = writer.prepare(
    `DELETE FROM invitations WHERE token_hash IN
       (SELECT token_hash FROM invitations WHERE expires_at_ms <= ? LIMIT ${countMax})`,
  )
  const resets = writer.prepare('DELETE FROM password_resets WHERE expires_at_ms <= ?')
  return (nowMs) =>
    idle.run(nowMs - SESSION_IDLE_MS).changes +
    old.run(nowMs - SESSION_MS_MAX).changes +
    invitations.run(nowMs).changes +
    resets.run(nowMs).changes
}
