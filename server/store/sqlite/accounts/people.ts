import { foldedEmail } from '../../../domain/accounts/emailAddress.ts'
import type { Membership, PeopleStore, Person } from '../../accountStore.ts'
import type { Connections } from '../files/openDatabase.ts'
import type { NotedWrites } from '../changes/audit.ts'

/** People in SQLite. */
export function sqlitePeople({ reader, writer }: Connections, { commits, note }: NotedWrites): PeopleStore {
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
  const orgsOf = writer
    .prepare<[string], string>('SELECT org_id FROM memberships WHERE person_id = ?')
    .pluck()
  const setHash = writer.prepare('UPDATE people SET password_hash = ? WHERE id = ?')
  const replaceHash = writer.prepare('UPDATE people SET password_hash = ? WHERE id = ? AND password_hash = ?')
  const endSessions = writer.prepare('DELETE FROM sessions WHERE person_id = ?')
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
    setPassword: ({ personId, passwordHash, by, nowMs }) =>
      commits.run(() => {
        setHash.run(passwordHash, personId)
        endSessions.run(personId)
        for (const orgId of orgsOf.all(personId)) {
          note({ orgId, by, action: 'person.password', targetId: personId, nowMs })
        }
      }),
    replacePasswordHash: (personId, from, to) =>
      commits.run(() => {
        replaceHash.run(to, personId, from)
      }),
    setLook: (personId, look) =>
      commits.run(() => {
        setLook.run(look, personId)
      }),
  }
}
