import type { Actor } from '../../../domain/accounts/actor.ts'
import { foldedEmail } from '../../../domain/accounts/emailAddress.ts'
import type { Membership, PeopleStore, Person } from '../../accountStore.ts'
import { personNotFound } from '../../shared/accountRules.ts'
import type { AuditedWrites } from '../changes/audit.ts'
import type { Connections } from '../files/openDatabase.ts'

/** People in SQLite. */
export function sqlitePeople(connections: Connections, writes: AuditedWrites): PeopleStore {
  const { reader, writer } = connections
  const { commits } = writes
  const byEmail = reader.prepare<[string], Person & { passwordHash: string | null }>(
    'SELECT id, email, name, look, password_hash AS passwordHash FROM people WHERE email_folded = ?',
  )
  const hashOf = reader
    .prepare<[string], string | null>('SELECT password_hash FROM people WHERE id = ?')
    .pluck()
  const memberships = reader.prepare<[string], Membership>(
    `SELECT m.org_id AS orgId, o.name AS orgName, o.plan, m.role
     FROM memberships m JOIN orgs o ON o.id = m.org_id WHERE m.person_id = ? ORDER BY o.name, o.id`,
  )
  const replaceHash = writer.prepare('UPDATE people SET password_hash = ? WHERE id = ? AND password_hash = ?')
  const setLook = writer.prepare('UPDATE people SET look = ? WHERE id = ?')
  return {
    personWithEmail: async (email) => {
      const row = byEmail.get(foldedEmail(email))
      if (row === undefined) return undefined
      const { passwordHash, ...person } = row
      return { person, passwordHash }
    },
    passwordHashOf: async (personId) => hashOf.get(personId),
    membershipsOf: async (personId) => memberships.all(personId),
    replacePasswordHash: (personId, from, to) =>
      commits.run(() => {
        replaceHash.run(to, personId, from)
      }),
    setColourScheme: (personId, look) =>
      commits.run(() => {
        setLook.run(look, personId)
      }),
    ...sqlitePasswords(connections, writes),
  }
}

type PasswordMethods = 'setPassword' | 'startReset' | 'personOfReset' | 'resetPassword'

function sqlitePasswords(
  { reader, writer }: Connections,
  { commits, note }: AuditedWrites,
): Pick<PeopleStore, PasswordMethods> {
  const orgsOf = writer
    .prepare<[string], string>('SELECT org_id FROM memberships WHERE person_id = ?')
    .pluck()
  const hashOf = writer
    .prepare<[string], string | null>('SELECT password_hash FROM people WHERE id = ?')
    .pluck()
  const setHash = writer.prepare('UPDATE people SET password_hash = ? WHERE id = ?')
  const endSessions = writer.prepare('DELETE FROM sessions WHERE person_id = ?')
  const idOf = writer.prepare<[string], string>('SELECT id FROM people WHERE email_folded = ?').pluck()
  const addReset = writer.prepare(
    'INSERT OR REPLACE INTO password_resets (token_hash, person_id, expires_at_ms) VALUES (?, ?, ?)',
  )
  const endResets = writer.prepare('DELETE FROM password_resets WHERE person_id = ?')
  const ofReset = `SELECT p.id, p.email, p.name, p.look FROM password_resets r JOIN people p ON p.id = r.person_id
    WHERE r.token_hash = ? AND r.expires_at_ms > ?`
  const find = reader.prepare<[Buffer, number], Person>(ofReset)
  const findForWrite = writer.prepare<[Buffer, number], Person>(ofReset)
  /** Adds an action on a person to the audit log of each organisation of that person. */
  const noteEverywhere = (personId: string, audited: { action: string; by: Actor; nowMs: number }): void => {
    for (const orgId of orgsOf.all(personId)) note({ ...audited, orgId, targetId: personId })
  }
  const replace = (personId: string, passwordHash: string, by: Actor, nowMs: number): void => {
    setHash.run(passwordHash, personId)
    endSessions.run(personId)
    endResets.run(personId)
    noteEverywhere(personId, { action: 'person.password', by, nowMs })
  }
  return {
    setPassword: ({ personId, from, passwordHash, by, nowMs }) =>
      commits.run(() => {
        if (hashOf.get(personId) !== from) return false
        replace(personId, passwordHash, by, nowMs)
        return true
      }),
    startReset: ({ email, tokenHash, expiresAtMs, by, nowMs }) =>
      commits.run(() => {
        const personId = idOf.get(foldedEmail(email))
        if (personId === undefined) throw personNotFound(email)
        addReset.run(tokenHash, personId, expiresAtMs)
        noteEverywhere(personId, { action: 'person.reset', by, nowMs })
      }),
    personOfReset: async (tokenHash, nowMs) => find.get(tokenHash, nowMs),
    resetPassword: (tokenHash, passwordHash, nowMs) =>
      commits.run(() => {
        const person = findForWrite.get(tokenHash, nowMs)
        if (person !== undefined) replace(person.id, passwordHash, { kind: 'person', id: person.id }, nowMs)
        return person
      }),
  }
}
