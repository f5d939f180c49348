import { isSessionValid } from '../../../domain/accounts/sessions.ts'
import type { Person, SessionStore, StoredSession } from '../../accountStore.ts'
import { SESSIONS_MAX } from '../../shared/accountRules.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf, uuidOrNull } from '../connections/sql.ts'
import { recordPersonAction } from '../writes/auditWrites.ts'

const COLUMNS = `s.id_hash AS "idHash", s.person_id AS "personId", s.created_at_ms AS "createdAtMs",
  s.seen_at_ms AS "seenAtMs", s.elevated_at_ms AS "elevatedAtMs", s.browser`

/** Sessions in PostgreSQL. */
export function postgresSessions({
  write,
  read,
  inTransaction,
}: Pick<Pools, 'write' | 'read' | 'inTransaction'>): SessionStore {
  return {
    openSession: (session, passwordHash) =>
      inTransaction(async (sql) => {
        const { idHash, personId, createdAtMs, seenAtMs, elevatedAtMs, browser } = session
        // The lock orders this against a change of the password: either that change deletes this session, or the hash
        // no longer matches here.
        const person = await rowOf(
          sql,
          'SELECT id FROM people WHERE id = $1 AND password_hash = $2 FOR NO KEY UPDATE',
          [uuidOrNull(personId), passwordHash],
        )
        if (person === undefined) return false
        await sql.rows(
          `DELETE FROM sessions WHERE person_id = $1 AND id_hash NOT IN
             (SELECT id_hash FROM sessions WHERE person_id = $1 ORDER BY seen_at_ms DESC, id_hash
              LIMIT ${SESSIONS_MAX - 1})`,
          [personId],
        )
        await sql.rows(
          `INSERT INTO sessions (id_hash, person_id, created_at_ms, seen_at_ms, elevated_at_ms, browser)
           VALUES ($1, $2, $3, $4, $5, $6)`,
          [idHash, personId, createdAtMs, seenAtMs, elevatedAtMs, browser],
        )
        return true
      }),
    sessionOf: async (idHash, nowMs) => {
      const row = await rowOf<StoredSession & Pick<Person, 'email' | 'name' | 'look'>>(
        read,
        `SELECT ${COLUMNS}, p.email, p.name, p.look
         FROM sessions s JOIN people p ON p.id = s.person_id WHERE s.id_hash = $1`,
        [idHash],
      )
      if (row === undefined || !isSessionValid(row, nowMs)) return undefined
      const { email, name, look, ...session } = row
      return { session, person: { id: session.personId, email, name, look } }
    },
    touchSession: async (idHash, nowMs) => {
      const text = 'UPDATE sessions SET seen_at_ms = greatest(seen_at_ms, $2) WHERE id_hash = $1'
      await write.rows(text, [idHash, nowMs])
    },
    elevateSession: async (idHash, newIdHash, nowMs) => {
      const elevated = await write.rows(
        `UPDATE sessions SET id_hash = $2, elevated_at_ms = $3, seen_at_ms = greatest(seen_at_ms, $3)
         WHERE id_hash = $1 RETURNING person_id`,
        [idHash, newIdHash, nowMs],
      )
      return elevated.length > 0
    },
    sessionsOf: async (personId, nowMs) => {
      const sessions = await read.rows<StoredSession>(
        `SELECT ${COLUMNS} FROM sessions s WHERE s.person_id = $1 ORDER BY s.seen_at_ms DESC, s.id_hash`,
        [uuidOrNull(personId)],
      )
      return sessions.filter((session) => isSessionValid(session, nowMs))
    },
    endSession: async (personId, idHash) => {
      const text = 'DELETE FROM sessions WHERE person_id = $1 AND id_hash = $2'
      await write.rows(text, [uuidOrNull(personId), idHash])
    },
    endSessions: (personId, by, nowMs) =>
      inTransaction(async (sql) => {
        const id = uuidOrNull(personId)
        await sql.rows('SELECT FROM people WHERE id = $1 FOR NO KEY UPDATE', [id])
        const ended = await sql.rows('DELETE FROM sessions WHERE person_id = $1 RETURNING person_id', [id])
        const detail = { sessions: ended.length }
        await recordPersonAction(sql, personId, { action: 'person.sign_out', by, nowMs, detail })
        return ended.length
      }),
  }
}
