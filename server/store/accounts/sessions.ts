import { isSessionValid } from '../../domain/accounts/sessions.ts'
import type { Person, SessionStore, StoredSession } from '../accountStore.ts'
import { recordPersonAction } from '../scripts/auditScripts.ts'
import { row, rows, run, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'

/** Maximum number of sessions of a person, because a page lists all of them. Gap G54. */
const SESSIONS_MAX = 50

const COLUMNS = `s.id_hash AS "idHash", s.person_id AS "personId", s.created_at_ms AS "createdAtMs",
  s.seen_at_ms AS "seenAtMs", s.elevated_at_ms AS "elevatedAtMs", s.browser`

/** Sessions of the console. None is cached. */
export function sessions({ read, write, inTransaction }: Scripts): SessionStore {
  return {
    openSession: (session, passwordHash) =>
      inTransaction(function* () {
        const { idHash, personId, createdAtMs, seenAtMs, elevatedAtMs, browser } = session
        // The lock orders this against a change of the password: either that change deletes this session, or the hash
        // no longer matches here.
        const person = yield* row(
          'SELECT id FROM people WHERE id = $1 AND password_hash = $2 FOR NO KEY UPDATE',
          [uuidOrNull(personId), passwordHash],
        )
        if (person === undefined) return false
        yield* run(
          `DELETE FROM sessions WHERE person_id = $1 AND id_hash NOT IN
             (SELECT id_hash FROM sessions WHERE person_id = $1 ORDER BY seen_at_ms DESC, id_hash
              LIMIT ${SESSIONS_MAX - 1})`,
          [personId],
        )
        yield* run(
          `INSERT INTO sessions (id_hash, person_id, created_at_ms, seen_at_ms, elevated_at_ms, browser)
           VALUES ($1, $2, $3, $4, $5, $6)`,
          [idHash, personId, createdAtMs, seenAtMs, elevatedAtMs, browser],
        )
        return true
      }),
    sessionOf: (idHash, nowMs) =>
      read(function* () {
        const found = yield* row<StoredSession & Pick<Person, 'email' | 'name' | 'look'>>(
          `SELECT ${COLUMNS}, p.email, p.name, p.look
           FROM sessions s JOIN people p ON p.id = s.person_id WHERE s.id_hash = $1`,
          [idHash],
        )
        if (found === undefined || !isSessionValid(found, nowMs)) return undefined
        const { email, name, look, ...session } = found
        return { session, person: { id: session.personId, email, name, look } }
      }),
    touchSession: (idHash, nowMs) => {
      const text = 'UPDATE sessions SET seen_at_ms = greatest(seen_at_ms, $2) WHERE id_hash = $1'
      return write(() => run(text, [idHash, nowMs]))
    },
    elevateSession: (idHash, newIdHash, nowMs) =>
      write(function* () {
        const elevated = yield* row(
          `UPDATE sessions SET id_hash = $2, elevated_at_ms = $3, seen_at_ms = greatest(seen_at_ms, $3)
           WHERE id_hash = $1 RETURNING person_id`,
          [idHash, newIdHash, nowMs],
        )
        return elevated !== undefined
      }),
    sessionsOf: (personId, nowMs) =>
      read(function* () {
        const found = yield* rows<StoredSession>(
          `SELECT ${COLUMNS} FROM sessions s WHERE s.person_id = $1 ORDER BY s.seen_at_ms DESC, s.id_hash`,
          [uuidOrNull(personId)],
        )
        return found.filter((session) => isSessionValid(session, nowMs))
      }),
    endSession: (personId, idHash) => {
      const text = 'DELETE FROM sessions WHERE person_id = $1 AND id_hash = $2'
      return write(() => run(text, [uuidOrNull(personId), idHash]))
    },
    endSessions: (personId, by, nowMs) =>
      inTransaction(function* () {
        const id = uuidOrNull(personId)
        yield* run('SELECT id FROM people WHERE id = $1 FOR NO KEY UPDATE', [id])
        const ended = yield* rows('DELETE FROM sessions WHERE person_id = $1 RETURNING person_id', [id])
        const detail = { sessions: ended.length }
        yield* recordPersonAction(personId, { action: 'person.sign_out', by, nowMs, detail })
        return ended.length
      }),
  }
}
