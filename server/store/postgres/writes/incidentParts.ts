import type { Incident } from '../../../../api/contract/incident.ts'
import { foldForSearch } from '../../shared/searchText.ts'
import type { Draft, UpdateRow } from './draft.ts'
import { assignmentsFrom, type Column, OF_ORG, type Parameters } from './parameters.ts'

const CHANGED_COLUMNS: readonly Column<Incident>[] = [
  ['id', 'uuid', ({ id }) => id],
  ['status', 'text', ({ status }) => status],
  ['severity', 'text', ({ severity }) => severity],
  ['updated_at', 'text', ({ updated_at }) => updated_at],
  ['resolved_at', 'text', ({ resolved_at }) => resolved_at],
]
const COLUMNS: readonly Column<Incident>[] = [
  ...CHANGED_COLUMNS,
  ['number', 'integer', ({ display_id }) => Number(display_id.slice('INC-'.length))],
  ['title', 'text', ({ title }) => title],
  ['title_folded', 'text', ({ title }) => foldForSearch(title)],
  ['display_id_folded', 'text', ({ display_id }) => foldForSearch(display_id)],
  ['created_at', 'text', ({ created_at }) => created_at],
  ['auto_managed', 'boolean', ({ auto_managed }) => auto_managed],
  ['service_ids', 'text', ({ service_ids }) => service_ids.join(',')],
]
const OWN = { ...OF_ORG, kind: "'incident'", service_ids: "string_to_array(u.service_ids, ',')::uuid[]" }

const UPDATE_COLUMNS: readonly Column<UpdateRow>[] = [
  ['incident_id', 'uuid', ({ incidentId }) => incidentId],
  ['place', 'integer', ({ place }) => place],
  ['id', 'uuid', ({ update }) => update.id],
  ['body', 'text', ({ update }) => update.body],
  ['status_at_update', 'text', ({ update }) => update.status_at_update],
  ['created_at', 'text', ({ update }) => update.created_at],
  // Public pages do not show the texts of automation.
  ['is_automatic', 'boolean', ({ by }) => by.kind === 'system'],
  ['actor_kind', 'text', ({ by }) => ('id' in by ? by.kind : null)],
  ['actor', 'text', ({ by }) => ('id' in by ? by.id : null)],
]

/** Parts of a write for incidents and their updates. */
export function incidentParts({ incidents, updates }: Draft, parameters: Parameters): readonly string[] {
  const of = (wanted: boolean) =>
    [...incidents.values()].flatMap(({ isStored, incident }) => (isStored === wanted ? [incident] : []))
  const [added, changed] = [of(false), of(true)]
  return [
    ...(added.length > 0
      ? [parameters.insert('incidents', { columns: COLUMNS, rows: added, own: OWN })]
      : []),
    ...(changed.length > 0
      ? [
          `UPDATE incidents i SET ${assignmentsFrom('u', CHANGED_COLUMNS)}
           FROM o, ${parameters.table(CHANGED_COLUMNS, changed)} WHERE i.id = u.id AND i.org_id = o.id`,
        ]
      : []),
    ...(updates.length > 0
      ? [parameters.insert('incident_updates', { columns: UPDATE_COLUMNS, rows: updates })]
      : []),
  ]
}
