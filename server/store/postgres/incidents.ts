import type { Incident } from '../../../api/contract/incident.ts'
import { WHOLE_PAGE_BYTES_MAX, WHOLE_PAGE_UPDATES_MAX } from '../shared/incidentRow.ts'
import { foldForSearch } from '../shared/searchText.ts'
import { uuidOrNull, uuidsIn } from '../shared/uuid.ts'
import type { IncidentFilter, IncidentList, IncidentStore } from '../store.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf, type SqlValue } from './connections/sql.ts'
import { openLongList } from './longList.ts'
import { readIncidents, SELECT_INCIDENT_JSON } from './writes/incidentRows.ts'
import { quotaOf } from './writes/orgState.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Incidents in PostgreSQL. Maintenance windows are in the same table and every query here excludes them. */
export function postgresIncidents({ pools, queues, nowMs }: StoreParts) {
  return {
    getIncident: async (orgId, incidentId) => {
      const id = uuidOrNull(orgId)
      return id === null ? undefined : (await readIncidents(pools.read, id, [incidentId]))[0]
    },
    listIncidents: (orgId, filter) => listIncidents(pools, orgId, filter),
    createIncident: (orgId, { by, wantedServiceIds, fingerprint }, decide) =>
      queues.run(orgId, {
        reads: {
          ownedIds: wantedServiceIds,
          ...(fingerprint === undefined ? {} : { creationKeys: [fingerprint.keyHash] }),
        },
        decide: (draft) => {
          const text = draft.createOnce(fingerprint, nowMs(), () => {
            const { state } = draft
            const ownServiceIds = new Set(wantedServiceIds.filter((id) => state.ownedIds.has(id)))
            const number = state.columns.incidentsMade + 1
            const incident = decide({ number, quota: quotaOf(state), ownServiceIds })
            draft.changeIncident(null, incident, by)
            return JSON.stringify(incident)
          })
          // True because only incidents are stored under an incident's Idempotency-Key.
          return JSON.parse(text) as Incident
        },
      }),
    changeIncident: (orgId, incidentId, by, decide) =>
      queues.run(orgId, {
        reads: { incidentIds: [incidentId] },
        decide: (draft) => {
          const before = draft.state.incidents.get(incidentId)
          if (before === undefined) return undefined
          const after = decide(before, quotaOf(draft.state))
          draft.changeIncident(before, after, by)
          if (after.auto_managed) draft.autoIncidents.takeOver(after)
          return after
        },
      }),
  } satisfies Partial<IncidentStore>
}

/** The ids of a page of incidents, and the number of updates and bytes to read. */
interface PageRow {
  readonly total: number
  readonly ids: readonly string[]
  readonly updates: number
  readonly bytes: number
}

/** One page and the total number, found in one statement. Gap G3, Gap G8. */
async function listIncidents(
  { read, longReader }: Pick<Pools, 'read' | 'longReader'>,
  orgId: string,
  filter: IncidentFilter,
): Promise<IncidentList> {
  const found = searchOf(orgId, filter)
  if (found === undefined) return { total: 0, items: [] }
  const page = await rowOf<PageRow>(read, found.text, found.values)
  const { total = 0, ids = [], updates = 0, bytes = 0 } = page ?? {}
  if (ids.length === 0) return { total, items: [] }
  if (updates <= WHOLE_PAGE_UPDATES_MAX && bytes <= WHOLE_PAGE_BYTES_MAX) {
    return { total, items: await readIncidents(read, orgId, ids) }
  }
  const rows = { text: SELECT_INCIDENT_JSON, values: [orgId, ids] }
  return { total, openItems: () => openLongList(longReader, { rows }) }
}

/** The query for a page; `undefined` when nothing can match. */
function searchOf(orgId: string, { section, q, severity, serviceIds, page, limit }: IncidentFilter) {
  const values: SqlValue[] = [uuidOrNull(orgId)]
  const parameter = (value: SqlValue): string => `$${values.push(value)}`
  const isResolved = section === 'resolved'
  const conditions = ["org_id = $1 AND kind = 'incident'", `(status = 'resolved') = ${isResolved}`]
  if (severity !== undefined) conditions.push(`severity = ${parameter(severity)}`)
  if (serviceIds.length > 0) {
    const ids = uuidsIn(serviceIds)
    if (ids.length === 0) return undefined
    conditions.push(`service_ids && ${parameter(ids)}::uuid[]`)
  }
  if (q !== undefined) {
    // PostgreSQL neither stores nor accepts a null character.
    if (q.includes('\0')) return undefined
    // strpos instead of LIKE: a percent sign or an underscore in the search is literal (Gap G18).
    const folded = parameter(foldForSearch(q))
    conditions.push(`(strpos(title_folded, ${folded}) > 0 OR strpos(display_id_folded, ${folded}) > 0)`)
  }
  const where = conditions.join(' AND ')
  const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)
  const text = `
    SELECT (SELECT count(*) FROM incidents WHERE ${where}) AS total,
      coalesce(array_agg(id ORDER BY position DESC), '{}') AS ids,
      coalesce(sum(updates), 0)::bigint AS updates, coalesce(sum(bytes), 0)::bigint AS bytes
    FROM (SELECT id, position, title FROM incidents WHERE ${where}
          ORDER BY position DESC LIMIT ${parameter(limit)} OFFSET ${parameter(offset)}) page
    LEFT JOIN LATERAL (SELECT count(*) AS updates, sum(octet_length(body)) + octet_length(page.title) AS bytes
          FROM incident_updates WHERE incident_id = page.id) size ON true`
  return { text, values }
}
