import { randomUUID } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { databaseFile } from '../../store/sqlite/files/openDatabase.ts'

/** Equal incidents of one organisation. */
export interface SeededIncidents {
  readonly orgId: string
  readonly incidents: number
  readonly updates: number
  /** Length of each update (characters). */
  readonly bodyChars: number
}

/**
 * Appends incidents directly to the database of `dataDir`, without the server, because as many requests would take an
 * hour.
 */
export function seedIncidents(
  dataDir: string,
  { orgId, incidents, updates, bodyChars }: SeededIncidents,
): void {
  const database = new Sqlite(databaseFile(dataDir))
  const at = '2026-01-01T00:00:00.000Z'
  const incident = database.prepare(`
    INSERT INTO incidents (id, org_id, kind, number, title, title_folded, display_id_folded, status, severity,
      created_at, updated_at, resolved_at, auto_managed)
    VALUES (?, ?, 'incident', ?, 'Down', 'down', ?, 'investigating', 'major_outage', ?, ?, NULL, 0)`)
  const update = database.prepare(`
    INSERT INTO incident_updates (incident_id, place, id, body, status_at_update, created_at)
    VALUES (?, ?, ?, ?, 'investigating', ?)`)
  const body = 'x'.repeat(bodyChars)
  const made = database.prepare<[string], number>('SELECT incidents_made FROM orgs WHERE id = ?').pluck()
  const seed = database.transaction(() => {
    const before = made.get(orgId) ?? 0
    for (let number = before + 1; number <= before + incidents; number += 1) {
      const id = randomUUID()
      incident.run(id, orgId, number, `inc-${number}`, at, at)
      for (let place = 0; place < updates; place += 1) update.run(id, place, randomUUID(), body, at)
    }
    database.prepare('UPDATE orgs SET incidents_made = ? WHERE id = ?').run(before + incidents, orgId)
  })
  seed()
  database.close()
}
