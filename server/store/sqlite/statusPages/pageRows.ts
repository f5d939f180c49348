import type { Database } from 'better-sqlite3'
import type { IncidentsShown, StatusPage } from '../../../domain/statusPages/definition.ts'
import { type ComponentRow, sectionsOf } from '../../shared/pageRules.ts'

/** The key of a page. */
export type PageKey = 'id' | 'slug' | 'host'

interface PageRow extends Omit<StatusPage, 'isPublic' | 'hosts' | 'sections' | 'hiddenIncidents'> {
  readonly isPublic: number
  readonly incidentsShown: IncidentsShown
}

type StoredComponent = Omit<ComponentRow, 'showsUptime' | 'isPaused'> & {
  readonly showsUptime: number
  readonly isPaused: number
}

const PAGE_SQL = `SELECT p.id, p.org_id AS orgId, p.slug, p.title, p.text, p.is_public AS isPublic,
  p.incidents_shown AS incidentsShown, p.created_at AS createdAt, p.generation FROM status_pages p`

/** Reads complete pages. */
export interface ReadPages {
  readonly one: (key: PageKey, value: string) => StatusPage | undefined
  /** In creation order. */
  readonly ofOrg: (orgId: string) => readonly StatusPage[]
}

/** Prepares the reading of pages on `database`. */
export function preparePageRead(database: Database): ReadPages {
  const one = {
    id: database.prepare<[string], PageRow>(`${PAGE_SQL} WHERE p.id = ?`),
    slug: database.prepare<[string], PageRow>(`${PAGE_SQL} WHERE p.slug = ?`),
    host: database.prepare<[string], PageRow>(
      `${PAGE_SQL} JOIN status_hosts h ON h.page_id = p.id WHERE h.host = ?`,
    ),
  }
  const ofOrg = database.prepare<[string], PageRow>(
    `${PAGE_SQL} WHERE p.org_id = ? ORDER BY p.created_at, p.id`,
  )
  const hosts = database
    .prepare<[string], string>('SELECT host FROM status_hosts WHERE page_id = ? ORDER BY host')
    .pluck()
  const hidden = database
    .prepare<[string], string>(
      `SELECT 'INC-' || i.number FROM status_hidden h JOIN incidents i ON i.id = h.incident_id
       WHERE h.page_id = ? ORDER BY i.number`,
    )
    .pluck()
  const components = database.prepare<[string], StoredComponent>(
    `SELECT t.name AS section, t.id AS sectionId, c.id, c.service_id AS serviceId, c.public_name AS name,
       c.text, c.shows_uptime AS showsUptime,
       s.running_in = '' AS isPaused
     FROM status_sections t LEFT JOIN status_components c ON c.section_id = t.id
     LEFT JOIN services s ON s.id = c.service_id WHERE t.page_id = ? ORDER BY t.place, c.place`,
  )
  const whole = ({ isPublic, ...row }: PageRow): StatusPage => ({
    ...row,
    isPublic: isPublic === 1,
    hosts: hosts.all(row.id),
    sections: sectionsOf(
      components.all(row.id).map(({ showsUptime, isPaused, ...component }) => ({
        ...component,
        showsUptime: showsUptime === 1,
        isPaused: isPaused === 1,
      })),
    ),
    hiddenIncidents: hidden.all(row.id),
  })
  return {
    one: (key, value) => {
      const row = one[key].get(value)
      return row === undefined ? undefined : whole(row)
    },
    ofOrg: (orgId) => ofOrg.all(orgId).map(whole),
  }
}
