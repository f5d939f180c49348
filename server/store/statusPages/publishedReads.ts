import type { Severity } from '../../../api/contract/incidentTerms.ts'
import type { StatusPage } from '../../domain/statusPages/definition.ts'
import type { IncidentSql } from '../incidents/incidentSql.ts'
import {
  listOf,
  row,
  rows,
  type Script,
  type Scripts,
  type ScriptValue,
  type StoredList,
} from '../scripts/script.ts'
import type {
  PageIncident,
  PageIncidentFilter,
  PageUpdate,
  PageWindow,
  PublishedStore,
} from '../statusPageStore.ts'

type WithList<Row extends { readonly serviceIds: readonly string[] }> = Omit<Row, 'serviceIds'> & {
  readonly serviceIds: StoredList<string>
}
/** `isAutomatic` is a number in SQLite, as all booleans. */
type IncidentRow = Omit<WithList<PageIncident>, 'isAutomatic' | 'updates' | 'earlierUpdates'> & {
  readonly isAutomatic: boolean | number
}
type UpdateRow = PageUpdate & { readonly incidentId: string; readonly place: number }

const NOT_HIDDEN = 'NOT EXISTS (SELECT 1 FROM status_hidden h WHERE h.page_id = $2 AND h.incident_id = i.id)'

/** Reads of status pages by the SQL of a kind of database. */
export function publishedReads({ read }: Scripts, sql: IncidentSql) {
  const visible = `i.org_id = $1 AND i.kind = 'incident' AND ${sql.isListed} AND ${NOT_HIDDEN}`
  // Conditions and indexes of incidents that pages show: the public must not cause scans of hidden incidents.
  const shown = { all: ['true', ''], people: [sql.isByPerson, 'people_'] } as const
  return {
    pageIncidents: (page, filter, { countMax, updatesMax }) =>
      read(function* () {
        if (page.incidentsShown === 'none') return []
        const [ofKind, prefix] = shown[page.incidentsShown]
        const { index, condition, values } = selectionOf(filter, prefix)
        const found = yield* rows<IncidentRow>(
          `SELECT i.id, 'INC-' || i.number AS "displayId", i.title, i.status, i.severity,
             i.auto_managed AS "isAutomatic", i.created_at AS "createdAt", i.resolved_at AS "resolvedAt",
             ${sql.serviceIds} AS "serviceIds"
           FROM ${sql.incidents(index)} WHERE ${ofKind} AND ${condition} AND ${visible}
           ORDER BY i.position DESC LIMIT $3`,
          [page.orgId, page.id, countMax, ...values],
        )
        const newest = yield* newestUpdates(found, updatesMax)
        const updates = valuesByKey(newest.map((update) => [update.incidentId, update]))
        return found.map(({ isAutomatic, ...incident }): PageIncident => {
          const own = updates.get(incident.id) ?? []
          return {
            ...withServices(page, incident),
            isAutomatic: Boolean(isAutomatic),
            updates: own.map(({ incidentId: _, place: __, ...update }) => update),
            earlierUpdates: own[0]?.place ?? 0,
          }
        })
      }),
    pageSeverities: (page) =>
      read(function* () {
        if (page.incidentsShown === 'none') return new Map()
        const [ofKind] = shown[page.incidentsShown]
        const text = `SELECT DISTINCT c.service_id AS "serviceId", i.severity ${sql.openOfComponents}
          AND ${ofKind} AND ${NOT_HIDDEN}`
        const found = yield* rows<{ serviceId: string; severity: Severity }>(text, [page.orgId, page.id])
        return valuesByKey(found.map(({ serviceId, severity }) => [serviceId, severity]))
      }),
    oldestPageIncident: (page) =>
      read(function* () {
        if (page.incidentsShown === 'none') return undefined
        const [ofKind, prefix] = shown[page.incidentsShown]
        const text = `SELECT i.created_at AS at FROM ${sql.incidents(`${prefix}incidents_by_creation`)}
          WHERE ${ofKind} AND ${visible} ORDER BY i.created_at LIMIT 1`
        return (yield* row<{ at: string }>(text, [page.orgId, page.id]))?.at
      }),
    pageWindows: (page, { from, until }, countMax) =>
      read(function* () {
        const windows = yield* rows<WithList<PageWindow>>(
          `SELECT i.id, i.title, i.updated_at AS "updatedAt", i.starts_at AS "startsAt", i.ends_at AS "endsAt",
             ${sql.serviceIds} AS "serviceIds"
           FROM incidents i WHERE i.org_id = $1 AND i.kind = 'maintenance' AND ${sql.isListed}
             AND i.starts_at < $4 AND i.ends_at > $3 ORDER BY i.starts_at, i.id LIMIT $5`,
          [page.orgId, page.id, from, until, countMax],
        )
        return windows.map((window) => withServices(page, window))
      }),
  } satisfies Partial<PublishedStore>
}

function valuesByKey<Value>(
  entries: readonly (readonly [string, Value])[],
): ReadonlyMap<string, readonly Value[]> {
  const values = new Map<string, Value[]>()
  for (const [key, value] of entries) values.set(key, [...(values.get(key) ?? []), value])
  return values
}

/** The index and the condition of a filter, with its values from `$4` on. */
function selectionOf(
  filter: PageIncidentFilter,
  prefix: string,
): { readonly index: string; readonly condition: string; readonly values: readonly ScriptValue[] } {
  switch (filter.kind) {
    case 'open':
      return { index: 'incidents_by_section', condition: "(i.status = 'resolved') = false", values: [] }
    case 'resolved since':
      return {
        index: `${prefix}incidents_by_resolution`,
        ...{ condition: 'i.resolved_at >= $4', values: [filter.from] },
      }
    case 'created':
      return {
        index: `${prefix}incidents_by_creation`,
        ...{ condition: 'i.created_at >= $4 AND i.created_at < $5', values: [filter.from, filter.until] },
      }
    case 'one':
      return { index: 'incidents_by_number', condition: 'i.number = $4::bigint', values: [filter.number] }
  }
}

/** The last `countMax` updates of each incident, in posting order. The place of an update is the number of earlier ones. */
function newestUpdates(
  incidents: readonly { readonly id: string }[],
  countMax: number,
): Script<readonly UpdateRow[]> {
  return rows(
    `SELECT u.incident_id AS "incidentId", u.place, u.id, u.status_at_update AS status, u.created_at AS "createdAt",
       CASE WHEN NOT u.is_automatic THEN u.body END AS body
     FROM json_array_elements_text($1::json) w JOIN incident_updates u ON u.incident_id = w.value::uuid
       AND u.place > (SELECT max(place) FROM incident_updates WHERE incident_id = w.value::uuid) - $2
     ORDER BY u.place`,
    [JSON.stringify(incidents.map(({ id }) => id)), countMax],
  )
}

/** `row` with the services that the page lists, in its order. */
function withServices<Row extends { readonly serviceIds: StoredList<string> }>(
  { sections }: StatusPage,
  found: Row,
) {
  const own = listOf(found.serviceIds)
  const listed = sections.flatMap(({ components }) => components.map(({ serviceId }) => serviceId))
  return { ...found, serviceIds: listed.filter((id) => own.includes(id)) }
}
