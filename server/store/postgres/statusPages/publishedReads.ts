import type { StatusPage } from '../../../domain/statusPages/definition.ts'
import { type ServiceSeverity, severitiesByService } from '../../shared/severitiesByService.ts'
import type {
  PageIncident,
  PageIncidentFilter,
  PageUpdate,
  PageWindow,
  PublishedStore,
} from '../../statusPageStore.ts'
import { rowOf, type Sql, type SqlValue } from '../connections/sql.ts'

/** Whether the page shows incident `i`. Parameters: organisation, services of the page, page. */
const VISIBLE = `i.org_id = $1 AND i.kind = 'incident' AND i.service_ids && $2::uuid[]
  AND NOT EXISTS (SELECT 1 FROM status_hidden h WHERE h.page_id = $3 AND h.incident_id = i.id)`

/** Incidents that pages show. Conditions of partial indexes: the public must not cause scans of hidden incidents. */
const SHOWN = { all: 'true', people: 'NOT i.auto_managed' } as const

/** In the words of the index of open incidents. */
const OPEN = "(i.status = 'resolved') = false"

/** Reads of status pages in PostgreSQL. */
export function postgresPublished(read: Sql): Omit<PublishedStore, 'changeCount' | 'publishedPage'> {
  return {
    pageIncidents: async (page, filter, { countMax, updatesMax }) => {
      if (page.incidentsShown === 'none') return []
      const [condition, values] = conditionOf(filter)
      const rows = await read.rows<IncidentRow>(
        `SELECT i.id, 'INC-' || i.number AS "displayId", i.title, i.status, i.severity,
           i.auto_managed AS "isAutomatic", i.created_at AS "createdAt", i.resolved_at AS "resolvedAt",
           i.service_ids AS "serviceIds", u.updates,
           (SELECT count(*) FROM incident_updates WHERE incident_id = i.id) AS "updateCount"
         FROM incidents i CROSS JOIN LATERAL (SELECT coalesce(json_agg(json_build_object('id', id,
             'status', status_at_update, 'createdAt', created_at,
             'body', CASE WHEN NOT is_automatic THEN body END) ORDER BY place), '[]') AS updates
           FROM (SELECT * FROM incident_updates WHERE incident_id = i.id ORDER BY place DESC LIMIT $4) newest) u
         WHERE ${VISIBLE} AND ${SHOWN[page.incidentsShown]} AND ${condition}
         ORDER BY i.position DESC LIMIT $5`,
        [...scopeOf(page), updatesMax, countMax, ...values],
      )
      return rows.map(({ updateCount, serviceIds, ...row }): PageIncident => {
        const earlierUpdates = updateCount - row.updates.length
        return { ...row, serviceIds: listedOf(page, serviceIds), earlierUpdates }
      })
    },
    pageSeverities: async (page) => {
      if (page.incidentsShown === 'none') return new Map()
      const rows = await read.rows<ServiceSeverity>(
        `SELECT DISTINCT s.id AS "serviceId", i.severity
         FROM incidents i CROSS JOIN LATERAL unnest(i.service_ids) AS s (id)
         WHERE ${VISIBLE} AND ${SHOWN[page.incidentsShown]} AND ${OPEN} AND s.id = ANY ($2::uuid[])`,
        scopeOf(page),
      )
      return severitiesByService(rows)
    },
    oldestPageIncident: async (page) => {
      if (page.incidentsShown === 'none') return undefined
      const row = await rowOf<{ at: string }>(
        read,
        `SELECT i.created_at AS at FROM incidents i WHERE ${VISIBLE} AND ${SHOWN[page.incidentsShown]}
         ORDER BY i.created_at LIMIT 1`,
        scopeOf(page),
      )
      return row?.at
    },
    pageWindows: async (page, { from, until }, countMax) => {
      const [orgId, serviceIds] = scopeOf(page)
      const windows = await read.rows<PageWindow>(
        `SELECT i.id, i.title, i.updated_at AS "updatedAt", i.starts_at AS "startsAt", i.ends_at AS "endsAt",
           i.service_ids AS "serviceIds"
         FROM incidents i WHERE i.org_id = $1 AND i.kind = 'maintenance' AND i.service_ids && $2::uuid[]
           AND i.starts_at < $4 AND i.ends_at > $3 ORDER BY i.starts_at, i.id LIMIT $5`,
        [orgId, serviceIds, from, until, countMax],
      )
      return windows.map((window) => ({ ...window, serviceIds: listedOf(page, window.serviceIds) }))
    },
  }
}

type IncidentRow = Omit<PageIncident, 'earlierUpdates'> & {
  readonly updates: readonly PageUpdate[]
  readonly updateCount: number
}

/** The condition of a filter, with its values from `$6` on. */
function conditionOf(filter: PageIncidentFilter): readonly [condition: string, values: readonly SqlValue[]] {
  switch (filter.kind) {
    case 'open':
      return [OPEN, []]
    case 'resolved since':
      return ['i.resolved_at >= $6', [filter.from]]
    case 'created':
      return ['i.created_at >= $6 AND i.created_at < $7', [filter.from, filter.until]]
    case 'one':
      return ['i.number = $6::bigint', [filter.number]]
  }
}

function scopeOf(page: StatusPage): readonly [string, readonly string[], string] {
  return [page.orgId, servicesOf(page), page.id]
}

/** The services that the page lists, in its order. */
function servicesOf({ sections }: StatusPage): readonly string[] {
  return sections.flatMap(({ components }) => components.map(({ serviceId }) => serviceId))
}

function listedOf(page: StatusPage, serviceIds: readonly string[]): readonly string[] {
  return servicesOf(page).filter((id) => serviceIds.includes(id))
}
