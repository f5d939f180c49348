import type { Database } from 'better-sqlite3'
import type { Incident } from '../../../api/contract/incident.ts'
import type { Actor } from '../../domain/accounts/actor.ts'
import type { Environment } from '../../domain/environment.ts'
import { type IncidentQuota, incidentBytes } from '../../domain/incidentQuota.ts'
import type { IncidentWrites } from '../shared/autoIncidents.ts'
import { foldForSearch } from '../shared/searchText.ts'
import { announceIncident } from './announceIncident.ts'
import type { RecordAction } from './changes/audit.ts'
import { prepareIncidentRead } from './incidentRows.ts'
import { executorOn } from './sqliteScripts.ts'

type Tools = Pick<Environment, 'nowMs' | 'uuid'>

interface Written {
  readonly incident: Incident
  readonly by: Actor
}

/** Prepares writing incidents on `writer`. Each update is announced to the channels that subscribe to it. */
export function prepareIncidentWrites(
  writer: Database,
  { note, environment }: { readonly note: RecordAction; readonly environment: Tools },
): IncidentWrites {
  const read = prepareIncidentRead(writer)
  const counts = prepareCounts(writer)
  const insert = prepareInsert(writer)
  const change = prepareChange(writer)
  const execute = executorOn(writer)
  const announce = (orgId: string, incident: Incident, from: number): void =>
    execute(announceIncident(orgId, { incident, from }, environment))
  const noteIncident = (
    action: 'create' | 'update',
    orgId: string,
    { id, display_id, status, updated_at }: Incident,
    by: Actor,
  ): void => {
    const nowMs = Date.parse(updated_at)
    note({ orgId, by, action: `incident.${action}`, targetId: id, nowMs, detail: { display_id, status } })
  }
  return {
    open: (orgId, by, decide) => {
      const { made, quota } = counts.read(orgId)
      const number = made + 1
      const incident = decide({ number, quota })
      insert(orgId, number, { incident, by })
      counts.write(orgId, number, incidentBytes(incident))
      announce(orgId, incident, 0)
      noteIncident('create', orgId, incident, by)
      return incident
    },
    change: (orgId, incidentId, by, decide) => {
      const before = read.one(orgId, incidentId)
      if (before === undefined) return undefined
      const { made, quota } = counts.read(orgId)
      const after = decide(before, quota)
      change(before, { incident: after, by })
      counts.write(orgId, made, incidentBytes(after) - incidentBytes(before))
      announce(orgId, after, before.updates.length)
      noteIncident('update', orgId, after, by)
      return after
    },
  }
}

/** The count and size of an organisation's incidents, in the caller's transaction. */
function prepareCounts(writer: Database) {
  const select = writer.prepare<[string], IncidentQuota & { readonly made: number }>(
    `SELECT o.incidents_made AS made, o.incident_bytes AS usedBytes,
       coalesce(o.incidents_mib_max, p.incidents_mib_max) AS mibMax
     FROM orgs o JOIN plans p ON p.name = o.plan WHERE o.id = ?`,
  )
  const update = writer.prepare(
    'UPDATE orgs SET incidents_made = ?, incident_bytes = incident_bytes + ? WHERE id = ?',
  )
  return {
    /** Number of incidents it ever created, and the space for more. Throws when there is no such organisation. */
    read: (orgId: string): { readonly made: number; readonly quota: IncidentQuota } => {
      const row = select.get(orgId)
      if (row === undefined) throw new Error('the organisation of a key does not exist')
      const { made, ...quota } = row
      return { made, quota }
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
    VALUES (?, ?, 'incident', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertService = writer.prepare(
    'INSERT INTO incident_services (incident_id, place, service_id, position) VALUES (?, ?, ?, ?)',
  )
  const append = prepareAppend(writer)
  return (orgId: string, number: number, { incident, by }: Written): void => {
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
      incident.auto_managed ? 1 : 0,
    )
    for (const [place, serviceId] of incident.service_ids.entries()) {
      insertService.run(id, place, serviceId, position)
    }
    append({ incident, by }, 0)
  }
}

/** Inserts the updates of an incident from index `from` on. */
function prepareAppend(writer: Database) {
  const insert = writer.prepare(`
    INSERT INTO incident_updates (incident_id, place, id, body, status_at_update, created_at, is_automatic)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const author = writer.prepare(
    'INSERT INTO incident_authors (update_id, actor_kind, actor) VALUES (?, ?, ?)',
  )
  return ({ incident, by }: Written, from: number): void => {
    for (const [offset, update] of incident.updates.slice(from).entries()) {
      const { id, body, status_at_update, created_at } = update
      // Public pages do not show automatic texts.
      const isAutomatic = by.kind === 'system' ? 1 : 0
      insert.run(incident.id, from + offset, id, body, status_at_update, created_at, isAutomatic)
      if ('id' in by) author.run(id, by.kind, by.id)
    }
  }
}

function prepareChange(writer: Database) {
  const update = writer.prepare(
    'UPDATE incidents SET status = ?, severity = ?, updated_at = ?, resolved_at = ? WHERE id = ?',
  )
  const append = prepareAppend(writer)
  return (before: Incident, { incident, by }: Written): void => {
    const { status, severity, updated_at, resolved_at, id } = incident
    update.run(status, severity, updated_at, resolved_at, id)
    append({ incident, by }, before.updates.length)
  }
}
