import { foldForSearch } from '../../shared/searchText.ts'
import type { Draft } from './draft.ts'
import { type Column, namesOf, type Parameters } from './parameters.ts'

/** Parts of a write for incidents and their updates. */
export function incidentParts(draft: Draft, parameters: Parameters): readonly string[] {
  const all = [...draft.incidents.values()]
  const parts: string[] = []
  const added = all.filter(({ isStored }) => !isStored)
  if (added.length > 0) {
    const columns: readonly Column[] = [
      ['id', 'uuid'],
      ['number', 'integer'],
      ['title', 'text'],
      ['title_folded', 'text'],
      ['display_id_folded', 'text'],
      ['status', 'text'],
      ['severity', 'text'],
      ['created_at', 'text'],
      ['updated_at', 'text'],
      ['resolved_at', 'text'],
      ['auto_managed', 'boolean'],
      ['service_ids', 'text'],
    ]
    const rows = added.map(({ incident }) => [
      ...[incident.id, Number(incident.display_id.slice('INC-'.length)), incident.title],
      ...[foldForSearch(incident.title), foldForSearch(incident.display_id), incident.status],
      ...[incident.severity, incident.created_at, incident.updated_at, incident.resolved_at],
      ...[incident.auto_managed, incident.service_ids.join(',')],
    ])
    parts.push(
      `INSERT INTO incidents (org_id, kind, id, number, title, title_folded, display_id_folded, status, severity,
         created_at, updated_at, resolved_at, auto_managed, service_ids)
       SELECT o.id, 'incident', u.id, u.number, u.title, u.title_folded, u.display_id_folded, u.status, u.severity,
         u.created_at, u.updated_at, u.resolved_at, u.auto_managed, string_to_array(u.service_ids, ',')::uuid[]
       FROM o, ${parameters.table(columns, rows)} ORDER BY u.n`,
    )
  }
  const changed = all.filter(({ isStored }) => isStored)
  if (changed.length > 0) {
    const columns: readonly Column[] = [
      ['id', 'uuid'],
      ['status', 'text'],
      ['severity', 'text'],
      ['updated_at', 'text'],
      ['resolved_at', 'text'],
    ]
    const rows = changed.map(({ incident }) => [
      ...[incident.id, incident.status, incident.severity, incident.updated_at, incident.resolved_at],
    ])
    parts.push(
      `UPDATE incidents i SET status = u.status, severity = u.severity, updated_at = u.updated_at,
         resolved_at = u.resolved_at
       FROM o, ${parameters.table(columns, rows)} WHERE i.id = u.id AND i.org_id = o.id`,
    )
  }
  return [...parts, ...updateParts(draft, parameters)]
}

function updateParts({ updates }: Draft, parameters: Parameters): readonly string[] {
  if (updates.length === 0) return []
  const columns: readonly Column[] = [
    ['incident_id', 'uuid'],
    ['place', 'integer'],
    ['id', 'uuid'],
    ['body', 'text'],
    ['status_at_update', 'text'],
    ['created_at', 'text'],
    ['is_automatic', 'boolean'],
    ['actor_kind', 'text'],
    ['actor', 'text'],
  ]
  const rows = updates.map(({ incidentId, place, update, by }) => [
    ...[incidentId, place, update.id, update.body, update.status_at_update, update.created_at],
    // Public pages do not show the texts of automation.
    ...[by.kind === 'system', 'id' in by ? by.kind : null, 'id' in by ? by.id : null],
  ])
  return [
    `INSERT INTO incident_updates (${namesOf(columns)}) SELECT ${namesOf(columns, 'u.')}
     FROM o, ${parameters.table(columns, rows)}`,
  ]
}
