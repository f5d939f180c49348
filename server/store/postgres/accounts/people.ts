import type { Actor } from '../../../domain/accounts/actor.ts'
import { foldedEmail } from '../../../domain/accounts/emailAddress.ts'
import type { Membership, PeopleStore, Person } from '../../accountStore.ts'
import { personNotFound } from '../../shared/accountRules.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf, type Sql, uuidOrNull } from '../connections/sql.ts'
import { recordPersonAction } from '../writes/auditWrites.ts'

type Connections = Pick<Pools, 'write' | 'read' | 'inTransaction'>

/** People in PostgreSQL. */
export function postgresPeople(pools: Connections): PeopleStore {
  const { write, read } = pools
  return {
    personWithEmail: async (email) => {
      const row = await rowOf<Person & { readonly passwordHash: string | null }>(
        read,
        'SELECT id, email, name, look, password_hash AS "passwordHash" FROM people WHERE email_folded = $1',
        [foldedEmail(email)],
      )
      if (row === undefined) return undefined
      const { passwordHash, ...person } = row
      return { person, passwordHash }
    },
    passwordHashOf: async (personId) => {
      const text = 'SELECT password_hash AS hash FROM people WHERE id = $1'
      return (await rowOf<{ hash: string | null }>(read, text, [uuidOrNull(personId)]))?.hash
    },
    membershipsOf: (personId) =>
      read.rows<Membership>(
        `SELECT m.org_id AS "orgId", o.name AS "orgName", o.plan, m.role
         FROM memberships m JOIN orgs o ON o.id = m.org_id WHERE m.person_id = $1 ORDER BY o.name COLLATE "C", o.id`,
        [uuidOrNull(personId)],
      ),
    replacePasswordHash: async (personId, from, to) => {
      const text = 'UPDATE people SET password_hash = $3 WHERE id = $1 AND password_hash = $2'
      await write.rows(text, [uuidOrNull(personId), from, to])
    },
    setColourScheme: async (personId, look) => {
      await write.rows('UPDATE people SET look = $2 WHERE id = $1', [uuidOrNull(personId), look])
    },
    ...postgresPasswords(pools),
  }
}

type PasswordMethods = 'setPassword' | 'startReset' | 'personOfReset' | 'resetPassword'

/** Every transaction locks the person before sessions and resets, so that two programs never deadlock. */
function postgresPasswords({ read, inTransaction }: Connections): Pick<PeopleStore, PasswordMethods> {
  return {
    setPassword: ({ personId, from, passwordHash, by, nowMs }) =>
      inTransaction(async (sql) => {
        const changed = await sql.rows(
          `UPDATE people SET password_hash = $3 WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $2
           RETURNING id`,
          [uuidOrNull(personId), from, passwordHash],
        )
        if (changed.length === 0) return false
        await endOldPassword(sql, personId, by, nowMs)
        return true
      }),
    startReset: ({ email, tokenHash, expiresAtMs, by, nowMs }) =>
      inTransaction(async (sql) => {
        const person = await rowOf<{ id: string }>(
          sql,
          'SELECT id FROM people WHERE email_folded = $1 FOR NO KEY UPDATE',
          [foldedEmail(email)],
        )
        if (person === undefined) throw personNotFound(email)
        await sql.rows(
          `INSERT INTO password_resets (token_hash, person_id, expires_at_ms) VALUES ($1, $2, $3)
           ON CONFLICT (person_id) DO UPDATE
             SET token_hash = excluded.token_hash, expires_at_ms = excluded.expires_at_ms`,
          [tokenHash, person.id, expiresAtMs],
        )
        await recordPersonAction(sql, person.id, { action: 'person.reset', by, nowMs })
      }),
    personOfReset: (tokenHash, nowMs) => personOfReset(read, tokenHash, nowMs),
    resetPassword: (tokenHash, passwordHash, nowMs) =>
      inTransaction(async (sql) => {
        const person = await personOfReset(sql, tokenHash, nowMs)
        if (person === undefined) return undefined
        await sql.rows('SELECT FROM people WHERE id = $1 FOR NO KEY UPDATE', [person.id])
        // Another program may have used the link while this one waited for the person.
        if ((await personOfReset(sql, tokenHash, nowMs)) === undefined) return undefined
        await sql.rows('UPDATE people SET password_hash = $2 WHERE id = $1', [person.id, passwordHash])
        await endOldPassword(sql, person.id, { kind: 'person', id: person.id }, nowMs)
        return person
      }),
  }
}

function personOfReset(sql: Sql, tokenHash: Buffer, nowMs: number): Promise<Person | undefined> {
  return rowOf<Person>(
    sql,
    `SELECT p.id, p.email, p.name, p.look FROM password_resets r JOIN people p ON p.id = r.person_id
     WHERE r.token_hash = $1 AND r.expires_at_ms > $2`,
    [tokenHash, nowMs],
  )
}

/** Deletes the sessions and resets of the old password. The caller has locked the person and stored the new password. */
async function endOldPassword(sql: Sql, personId: string, by: Actor, nowMs: number): Promise<void> {
  await sql.rows('DELETE FROM sessions WHERE person_id = $1', [personId])
  await sql.rows('DELETE FROM password_resets WHERE person_id = $1', [personId])
  await recordPersonAction(sql, personId, { action: 'person.password', by, nowMs })
}
