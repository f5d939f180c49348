import { ApiError } from '../../../api/contract/apiError.ts'
import type { Actor } from '../../domain/accounts/actor.ts'
import { foldedEmail } from '../../domain/accounts/emailAddress.ts'
import type { Membership, PeopleStore, Person } from '../accountStore.ts'
import { recordPersonAction } from '../scripts/auditScripts.ts'
import { row, rows, run, type Script, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'

/** People and their passwords. */
export function people(scripts: Scripts): PeopleStore {
  const { read, write } = scripts
  return {
    personWithEmail: (email) =>
      read(function* () {
        const found = yield* row<Person & { readonly passwordHash: string | null }>(
          'SELECT id, email, name, look, password_hash AS "passwordHash" FROM people WHERE email_folded = $1',
          [foldedEmail(email)],
        )
        if (found === undefined) return undefined
        const { passwordHash, ...person } = found
        return { person, passwordHash }
      }),
    passwordHashOf: (personId) =>
      read(function* () {
        const text = 'SELECT password_hash AS hash FROM people WHERE id = $1'
        return (yield* row<{ hash: string | null }>(text, [uuidOrNull(personId)]))?.hash
      }),
    membershipsOf: (personId) =>
      read(() =>
        rows<Membership>(
          `SELECT m.org_id AS "orgId", o.name AS "orgName", o.plan, m.role
           FROM memberships m JOIN orgs o ON o.id = m.org_id WHERE m.person_id = $1 ORDER BY o.name COLLATE "C", o.id`,
          [uuidOrNull(personId)],
        ),
      ),
    replacePasswordHash: (personId, from, to) => {
      const text = 'UPDATE people SET password_hash = $3 WHERE id = $1 AND password_hash = $2'
      return write(() => run(text, [uuidOrNull(personId), from, to]))
    },
    setColourScheme: (personId, look) =>
      write(() => run('UPDATE people SET look = $2 WHERE id = $1', [uuidOrNull(personId), look])),
    ...passwords(scripts),
  }
}

/** Every transaction locks the person before sessions and resets, so that two programs never deadlock. */
function passwords({ read, inTransaction }: Scripts) {
  return {
    setPassword: ({ personId, from, passwordHash, by, nowMs }) =>
      inTransaction(function* () {
        const changed = yield* row(
          `UPDATE people SET password_hash = $3 WHERE id = $1 AND password_hash IS NOT DISTINCT FROM $2
           RETURNING id`,
          [uuidOrNull(personId), from, passwordHash],
        )
        if (changed === undefined) return false
        yield* endOldPassword(personId, by, nowMs)
        return true
      }),
    startReset: ({ email, tokenHash, expiresAtMs, by, nowMs }) =>
      inTransaction(function* () {
        const person = yield* row<{ id: string }>(
          'SELECT id FROM people WHERE email_folded = $1 FOR NO KEY UPDATE',
          [foldedEmail(email)],
        )
        if (person === undefined)
          throw new ApiError(
            'not_found',
            `there is no person with the address ${email}: "pharos-server member list" shows those of an organisation`,
          )
        yield* run(
          `INSERT INTO password_resets (token_hash, person_id, expires_at_ms) VALUES ($1, $2, $3)
           ON CONFLICT (person_id) DO UPDATE
             SET token_hash = excluded.token_hash, expires_at_ms = excluded.expires_at_ms`,
          [tokenHash, person.id, expiresAtMs],
        )
        yield* recordPersonAction(person.id, { action: 'person.reset', by, nowMs })
      }),
    personOfReset: (tokenHash, nowMs) => read(() => personOfReset(tokenHash, nowMs)),
    resetPassword: (tokenHash, passwordHash, nowMs) =>
      inTransaction(function* () {
        const person = yield* personOfReset(tokenHash, nowMs)
        if (person === undefined) return undefined
        yield* run('SELECT id FROM people WHERE id = $1 FOR NO KEY UPDATE', [person.id])
        // Another program may have used the link while this one waited for the person.
        if ((yield* personOfReset(tokenHash, nowMs)) === undefined) return undefined
        yield* run('UPDATE people SET password_hash = $2 WHERE id = $1', [person.id, passwordHash])
        yield* endOldPassword(person.id, { kind: 'person', id: person.id }, nowMs)
        return person
      }),
  } satisfies Partial<PeopleStore>
}

function personOfReset(tokenHash: Buffer, nowMs: number): Script<Person | undefined> {
  return row<Person>(
    `SELECT p.id, p.email, p.name, p.look FROM password_resets r JOIN people p ON p.id = r.person_id
     WHERE r.token_hash = $1 AND r.expires_at_ms > $2`,
    [tokenHash, nowMs],
  )
}

/** Deletes the sessions and resets of the old password. The caller has locked the person and stored the new password. */
function* endOldPassword(personId: string, by: Actor, nowMs: number): Script<void> {
  yield* run('DELETE FROM sessions WHERE person_id = $1', [personId])
  yield* run('DELETE FROM password_resets WHERE person_id = $1', [personId])
  yield* recordPersonAction(personId, { action: 'person.password', by, nowMs })
}
