import type { Incident } from '../../../../api/contract/incident.ts'
import { foldForSearch } from '../../shared/searchText.ts'
import type { Draft, UpdateRow } from './draft.ts'
import { assignmentsFrom, columnsOf, OF_ORG, type Parameters } from './parameters.ts'

const CHANGED = { id: 'uuid', status: 'text', severity: 'text', updated_at: 'text', resolved_at: 'text' }
const CHANGED_COLUMNS = columnsOf<Incident>(CHANGED)
const COLUMNS = columnsOf<ReturnType<typeof rowOf>>({
  ...CHANGED,
  ...{ number: 'integer', title: 'text', title_folded: 'text', display_id_folded: 'text' },
  ...{ created_at: 'text', auto_managed: 'boolean', service_ids: 'text' },
})
const OWN = { ...OF_ORG, kind: "'incident'", service_ids: "string_to_array(u.service_ids, ',')::uuid[]" }

const UPDATE_COLUMNS = columnsOf<UpdateRow>({
  ...{ incidentId: 'uuid', place: 'integer', id: 'uuid', body: 'text', status_at_update: 'text' },
  ...{ created_at: 'text', isAutomatic: 'boolean', actorKind: 'text', actor: 'text' },
})

/** The row of a new incident. */
function rowOf(incident: Incident) {
  const { title, display_id, service_ids } = incident
  return {
    ...incident,
    ...{ title_folded: foldForSearch(title), display_id_folded: foldForSearch(display_id) },
    number: Number(display_id.slice('INC-'.length)),
    service_ids: service_ids.join(','),
  }
}

/** Parts of a write for incidents and their updates. */
export function incidentParts({ incidents, updates }: Draft, parameters: Parameters): readonly string[] {
  const of = (wanted: boolean) =>
    [...incidents.values()].flatMap(({ isStored, incident }) => (isStored === wanted ? [incident] : []))
  const [added, changed] = [of(false), of(true)]
  return [
    ...(added.length > 0
      ? [parameters.insert('incidents', { columns: COLUMNS, rows: added.map(rowOf), own: OWN })]
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
