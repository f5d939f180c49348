import type { Database } from 'better-sqlite3'
import type { IncidentStatus, Severity } from '../../../../api/contract/incidentTerms.ts'
import type { StatusPage } from '../../../domain/statusPages/definition.ts'
import { type ServiceSeverity, severitiesByService } from '../../shared/severitiesByService.ts'
import type {
  PageIncident,
  PageIncidentFilter,
  PageUpdate,
  PageWindow,
  PublishedStore,
} from '../../statusPageStore.ts'
import type { CommittedVersion } from '../commits/committedVersion.ts'

/** Conditions of the filters of incidents. */
const CONDITIONS: Readonly<Record<PageIncidentFilter['kind'], string>> = {
  open: "(i.status = 'resolved') = 0",
  'resolved since': 'i.resolved_at >= @from',
  created: 'i.created_at >= @from AND i.created_at < @until',
  one: 'i.number = @number',
}

/** Incidents that pages show. Conditions of partial indexes: the public must not cause scans of hidden incidents. */
const SHOWN = {
  all: { condition: 'TRUE', byCreation: 'incidents_by_creation', byResolution: 'incidents_by_resolution' },
  people: {
    condition: 'i.auto_managed = 0',
    byCreation: 'people_incidents_by_creation',
    byResolution: 'people_incidents_by_resolution',
  },
} as const
type Shown = keyof typeof SHOWN

/** Whether the page lists a service of `i`, and does not hide it. */
const VISIBLE_SQL = `i.org_id = @orgId AND i.kind = 'incident'
  AND EXISTS (SELECT 1 FROM incident_services s JOIN status_components c ON c.service_id = s.service_id
    JOIN status_sections t ON t.id = c.section_id WHERE s.incident_id = i.id AND t.page_id = @pageId)
  AND NOT EXISTS (SELECT 1 FROM status_hidden h WHERE h.page_id = @pageId AND h.incident_id = i.id)`

interface IncidentRow {
  readonly id: string
  readonly number: number
  readonly title: string
  readonly status: IncidentStatus
  readonly severity: Severity
  readonly isAutomatic: number
  readonly createdAt: string
  readonly resolvedAt: string | null
}

/** Reads of status pages in SQLite. */
export function sqlitePublished(
  reader: Database,
  version: CommittedVersion,
): Omit<PublishedStore, 'publishedPage'> {
  const reads = { all: prepareReads(reader, 'all'), people: prepareReads(reader, 'people') }
  const servicesOf = prepareServicesOf(reader)
  const updatesOf = prepareUpdatesOf(reader)
  const windows = reader.prepare<Record<string, unknown>, Omit<PageWindow, 'serviceIds'>>(
    `SELECT i.id, i.title, i.updated_at AS updatedAt, i.starts_at AS startsAt, i.ends_at AS endsAt FROM incidents i
     WHERE i.org_id = @orgId AND i.kind = 'maintenance' AND i.starts_at < @until AND i.ends_at > @from
     AND EXISTS (SELECT 1 FROM incident_services s JOIN status_components c ON c.service_id = s.service_id
       JOIN status_sections t ON t.id = c.section_id WHERE s.incident_id = i.id AND t.page_id = @pageId)
     ORDER BY i.starts_at, i.id LIMIT @countMax`,
  )
  return {
    changeCount: () => version.current(),
    pageIncidents: async (page, filter, { countMax, updatesMax }) => {
      if (page.incidentsShown === 'none') return []
      const select = reads[page.incidentsShown].incidents[filter.kind]
      const rows = select.all({ ...scopeOf(page), ...filter, countMax })
      return rows.map(({ number, isAutomatic, ...row }): PageIncident => {
        const { updates, earlierUpdates } = updatesOf(row.id, updatesMax)
        return {
          ...row,
          displayId: `INC-${number}`,
          isAutomatic: isAutomatic === 1,
          serviceIds: servicesOf(row.id, page.id),
          updates,
          earlierUpdates,
        }
      })
    },
    pageSeverities: async (page) => {
      if (page.incidentsShown === 'none') return new Map()
      const rows = reads[page.incidentsShown].severities.all(scopeOf(page))
      return severitiesByService(rows)
    },
    oldestPageIncident: async (page) =>
      page.incidentsShown === 'none' ? undefined : reads[page.incidentsShown].oldest.get(scopeOf(page)),
    pageWindows: async (page, period, countMax) =>
      windows
        .all({ ...scopeOf(page), ...period, countMax })
        .map((window) => ({ ...window, serviceIds: servicesOf(window.id, page.id) })),
  }
}

function scopeOf({ id, orgId }: StatusPage) {
  return { pageId: id, orgId }
}

function prepareReads(reader: Database, shown: Shown) {
  const { condition, byCreation, byResolution } = SHOWN[shown]
  const prepare = (kind: PageIncidentFilter['kind'], index: string) =>
    reader.prepare<Record<string, unknown>, IncidentRow>(
      `SELECT i.id, i.number, i.title, i.status, i.severity, i.auto_managed AS isAutomatic,
         i.created_at AS createdAt, i.resolved_at AS resolvedAt
       FROM incidents i INDEXED BY ${index} WHERE ${condition} AND ${CONDITIONS[kind]} AND ${VISIBLE_SQL}
       ORDER BY i.position DESC LIMIT @countMax`,
    )
  return {
    incidents: {
      open: prepare('open', 'incidents_by_section'),
      'resolved since': prepare('resolved since', byResolution),
      created: prepare('created', byCreation),
      one: prepare('one', 'incidents_by_number'),
    },
    severities: reader.prepare<Record<string, unknown>, ServiceSeverity>(
      `SELECT DISTINCT c.service_id AS serviceId, i.severity
       FROM status_sections t JOIN status_components c ON c.section_id = t.id
         JOIN incident_services s ON s.service_id = c.service_id AND s.is_resolved = 0 AND s.position IS NOT NULL
         JOIN incidents i ON i.position = s.position
       WHERE t.page_id = @pageId AND i.org_id = @orgId AND ${condition}
         AND NOT EXISTS (SELECT 1 FROM status_hidden h WHERE h.page_id = @pageId AND h.incident_id = i.id)`,
    ),
    oldest: reader
      .prepare<Record<string, unknown>, string>(
        `SELECT i.created_at FROM incidents i INDEXED BY ${byCreation} WHERE ${condition} AND ${VISIBLE_SQL}
         ORDER BY i.created_at LIMIT 1`,
      )
      .pluck(),
  }
}

function prepareServicesOf(reader: Database): (incidentId: string, pageId: string) => readonly string[] {
  const select = reader
    .prepare<[string, string], string>(
      `SELECT c.service_id FROM status_sections t JOIN status_components c ON c.section_id = t.id
       WHERE t.page_id = ? AND EXISTS
         (SELECT 1 FROM incident_services s WHERE s.incident_id = ? AND s.service_id = c.service_id)
       ORDER BY t.place, c.place`,
    )
    .pluck()
  return (incidentId, pageId) => select.all(pageId, incidentId)
}

function prepareUpdatesOf(reader: Database) {
  const select = reader.prepare<[string, number], PageUpdate>(
    `SELECT id, status_at_update AS status, created_at AS createdAt,
       CASE is_automatic WHEN 1 THEN NULL ELSE body END AS body
     FROM incident_updates WHERE incident_id = ? ORDER BY place DESC LIMIT ?`,
  )
  const count = reader
    .prepare<[string], number>('SELECT count(*) FROM incident_updates WHERE incident_id = ?')
    .pluck()
  return (incidentId: string, updatesMax: number) => {
    const updates = select.all(incidentId, updatesMax).reverse()
    return { updates, earlierUpdates: (count.get(incidentId) ?? 0) - updates.length }
  }
}
