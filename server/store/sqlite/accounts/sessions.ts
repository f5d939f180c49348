import { isSessionValid } from '../../../domain/accounts/sessions.ts'
import type { Person, SessionStore, StoredSession } from '../../accountStore.ts'
import { SESSIONS_MAX } from '../../shared/accountRules.ts'
import type { AuditedWrites } from '../changes/audit.ts'
import type { Connections } from '../files/openDatabase.ts'

const COLUMNS = `s.id_hash AS idHash, s.person_id AS personId, s.created_at_ms AS createdAtMs,
  s.seen_at_ms AS seenAtMs, s.elevated_at_ms AS elevatedAtMs, s.browser`

type Row = StoredSession & Pick<Person, 'email' | 'name' | 'look'>

/** Sessions in SQLite. Nothing of them is cached. */
export function sqliteSessions(
  { reader, writer }: Connections,
  { commits, note }: AuditedWrites,
): SessionStore {
  const insert = writer.prepare(
    `INSERT INTO sessions (id_hash, person_id, created_at_ms, seen_at_ms, elevated_at_ms, browser)
     SELECT ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM people WHERE id = ? AND password_hash = ?)`,
  )
  const trim = writer.prepare(
    `DELETE FROM sessions WHERE person_id = ? AND id_hash NOT IN
       (SELECT id_hash FROM sessions WHERE person_id = ? ORDER BY seen_at_ms DESC, id_hash LIMIT ${SESSIONS_MAX - 1})`,
  )
  const find = reader.prepare<[Buffer], Row>(
    `SELECT ${COLUMNS}, p.email, p.name, p.look
     FROM sessions s JOIN people p ON p.id = s.person_id WHERE s.id_hash = ?`,
  )
  const ofPerson = reader.prepare<[string], StoredSession>(
    `SELECT ${COLUMNS} FROM sessions s WHERE s.person_id = ? ORDER BY s.seen_at_ms DESC, s.id_hash`,
  )
  const touch = writer.prepare('UPDATE sessions SET seen_at_ms = max(seen_at_ms, ?) WHERE id_hash = ?')
  const elevate = writer.prepare(
    'UPDATE sessions SET id_hash = ?, elevated_at_ms = ?, seen_at_ms = max(seen_at_ms, ?) WHERE id_hash = ?',
  )
  const end = writer.prepare('DELETE FROM sessions WHERE person_id = ? AND id_hash = ?')
  const orgsOf = writer
    .prepare<[string], string>('SELECT org_id FROM memberships WHERE person_id = ?')
    .pluck()
  const endAll = writer.prepare('DELETE FROM sessions WHERE person_id = ?')
  return {
    openSession: (session, passwordHash) =>
      commits.run(() => {
        const { idHash, personId, createdAtMs, seenAtMs, elevatedAtMs, browser } = session
        const row = [idHash, personId, createdAtMs, seenAtMs, elevatedAtMs, browser]
        trim.run(personId, personId)
        return insert.run(...row, personId, passwordHash).changes > 0
      }),
    sessionOf: async (idHash, nowMs) => {
      const row = find.get(idHash)
      if (row === undefined || !isSessionValid(row, nowMs)) return undefined
      const { email, name, look, ...session } = row
      return { session, person: { id: session.personId, email, name, look } }
    },
    touchSession: (idHash, nowMs) =>
      commits.run(() => {
        touch.run(nowMs, idHash)
      }),
    elevateSession: (idHash, newIdHash, nowMs) =>
      commits.run(() => elevate.run(newIdHash, nowMs, nowMs, idHash).changes > 0),
    sessionsOf: async (personId, nowMs) =>
      ofPerson.all(personId).filter((session) => isSessionValid(session, nowMs)),
    endSession: (personId, idHash) =>
      commits.run(() => {
        end.run(personId, idHash)
      }),
    endSessions: (personId, by, nowMs) =>
      commits.run(() => {
        const ended = endAll.run(personId).changes
        for (const orgId of orgsOf.all(personId)) {
          note({
            orgId,
            by,
            action: 'person.sign_out',
            targetId: personId,
            nowMs,
            detail: { sessions: ended },
          })
        }
        return ended
      }),
  }
}
