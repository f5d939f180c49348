import type { Database } from 'better-sqlite3'
import type { Incident } from '../../../api/contract/incident.ts'
import { type IncidentRoom, incidentBytes } from '../../domain/incidentRoom.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import { prepareIncidentList } from './incidentList.ts'
import { prepareIncidentRead } from './incidentRows.ts'
import type { Connections } from './files/openDatabase.ts'
import { prepareRemember } from './rememberedCreations.ts'
import { foldForSearch } from '../shared/searchText.ts'
import type { IncidentStore } from '../store.ts'

/** Incidents in SQLite. Maintenance windows are in the same table and every query here leaves them out. */
export function sqliteIncidents(
  { reader, writer }: Connections,
  commits: GroupCommit,
  nowMs: () => number,
): IncidentStore {
  const read = prepareIncidentRead(reader)
  const readForChange = prepareIncidentRead(writer)
  const list = prepareIncidentList(reader, read)
  const ownService = writer
    .prepare<[string, string], string>('SELECT id FROM services WHERE id = ? AND org_id = ?')
    .pluck()
  const standing = prepareStanding(writer)
  const remember = prepareRemember(writer)
  const insert = prepareInsert(writer)
  const change = prepareChange(writer)
  return {
    getIncident: async (orgId, incidentId) => read.one(orgId, incidentId),
    listIncidents: list,
    createIncident: (orgId, wantedServiceIds, mark, decide) =>
      commits.run(() => {
        const text = remember(orgId, mark, nowMs(), () => {
          const ownServiceIds = new Set(
            wantedServiceIds.filter((id) => ownService.get(id, orgId) !== undefined),
          )
          const { made, room } = standing.read(orgId)
          const number = made + 1
          const incident = decide({ number, ownServiceIds, room })
          commits.assertGrowth()
          insert(orgId, number, incident)
          standing.write(orgId, number, incidentBytes(incident))
          return JSON.stringify(incident)
        })
        // True because only incidents are remembered under an incident's mark.
        return JSON.parse(text) as Incident
      }),
    changeIncident: (orgId, incidentId, decide) =>
      commits.run(() => {
        const before = readForChange.one(orgId, incidentId)
        if (before === undefined) return undefined
        const { made, room } = standing.read(orgId)
        const after = decide(before, room)
        commits.assertGrowth()
        change(before, after)
        standing.write(orgId, made, incidentBytes(after) - incidentBytes(before))
        return after
      }),
  }
}

/** The count and size of an organisation's incidents, in the caller's transaction. */
function prepareStanding(writer: Database) {
  const select = writer.prepare<[string], IncidentRoom & { readonly made: number }>(
    `SELECT o.incidents_made AS made, o.incident_bytes AS usedBytes,
       coalesce(o.incidents_mib_max, p.incidents_mib_max) AS mibMax
     FROM orgs o JOIN plans p ON p.name = o.plan WHERE o.id = ?`,
  )
  const update = writer.prepare(
    'UPDATE orgs SET incidents_made = ?, incident_bytes = incident_bytes + ? WHERE id = ?',
  )
  return {
    /** How many incidents it ever made, and the room for more. Throws when there is no such organisation. */
    read: (orgId: string): { readonly made: number; readonly room: IncidentRoom } => {
      const row = select.get(orgId)
      if (row === undefined) throw new Error('the organisation of a key does not exist')
      const { made, ...room } = row
      return { made, room }
    },
    write: (orgId: string, made: number, grownByBytes: number): void => {
      update.run(made, grownByBytes, orgId)
    },
  }
}

function prepareInsert(writer: Database) {
  const insert = writer.prepare(`
    INSERT INTO incidents (id, org_id, kind, number, title, title_folded, display_id_folded, status,
      severity, created_at, updated_at, resolved_at, auto_managed)
    VALUES (?, ?, 'incident', ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`)
  const insertService = writer.prepare(
    'INSERT INTO incident_services (incident_id, place, service_id, position) VALUES (?, ?, ?, ?)',
  )
  const append = prepareAppend(writer)
  return (orgId: string, number: number, incident: Incident): void => {
    const { id, title, display_id, status, severity, created_at, updated_at, resolved_at } = incident
    const { lastInsertRowid: position } = insert.run(
      id,
      orgId,
      number,
      title,
      foldForSearch(title),
      foldForSearch(display_id),
      status,
      severity,
      created_at,
      updated_at,
      resolved_at,
    )
    for (const [place, serviceId] of incident.service_ids.entries()) {
      insertService.run(id, place, serviceId, position)
    }
    append(incident, 0)
  }
}

/** Inserts the updates of an incident from the place `from` on. */
function prepareAppend(writer: Database) {
  const insert = writer.prepare(`
    INSERT INTO incident_updates (incident_id, place, id, body, status_at_update, created_at)
    VALUES (?, ?, ?, ?, ?, ?)`)
  return (incident: Incident, from: number): void => {
    for (const [offset, update] of incident.updates.slice(from).entries()) {
      const { id, body, status_at_update, created_at } = update
      insert.run(incident.id, from + offset, id, body, status_at_update, created_at)
    }
  }
}

function prepareChange(writer: Database) {
  const update = writer.prepare(
    'UPDATE incidents SET status = ?, severity = ?, updated_at = ?, resolved_at = ? WHERE id = ?',
  )
  const append = prepareAppend(writer)
  return (before: Incident, after: Incident): void => {
    update.run(after.status, after.severity, after.updated_at, after.resolved_at, after.id)
    append(after, before.updates.length)
  }
}
