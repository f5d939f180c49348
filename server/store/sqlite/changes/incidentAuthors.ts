import type { Database } from 'better-sqlite3'
import type { Actor } from '../../../domain/accounts/actor.ts'
import type { IncidentAuthor, IncidentStore } from '../../store.ts'

/** Prepares recording the author of an update of an incident, in the transaction that stores it. */
export function prepareAuthorWrite(writer: Database): (updateId: string, by: Actor) => void {
  const insert = writer.prepare(
    'INSERT INTO incident_authors (update_id, actor_kind, actor) VALUES (?, ?, ?)',
  )
  return (updateId, by) => {
    if ('id' in by) insert.run(updateId, by.kind, by.id)
  }
}

/** Prepares the reading of the authors of an incident. */
export function prepareAuthorRead(reader: Database): IncidentStore['incidentAuthors'] {
  const select = reader.prepare<[string], IncidentAuthor & { readonly updateId: string }>(
    `SELECT update_id AS updateId, actor_kind AS kind, CASE actor_kind
         WHEN 'person' THEN (SELECT email FROM people WHERE id = actor)
         WHEN 'key' THEN (SELECT last4 FROM api_keys WHERE id = actor) END AS name
     FROM incident_authors JOIN incident_updates u ON u.id = update_id WHERE u.incident_id = ?`,
  )
  return async (incidentId) =>
    new Map(select.all(incidentId).map(({ updateId, kind, name }) => [updateId, { kind, name }]))
}
