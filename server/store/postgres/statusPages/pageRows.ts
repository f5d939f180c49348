import type { StatusPage } from '../../../domain/statusPages/definition.ts'
import { type ComponentRow, sectionsOf } from '../../shared/pageRules.ts'
import type { Sql, SqlValue } from '../connections/sql.ts'

/** Conditions that select pages; `$1` is the value. */
const CONDITIONS = {
  id: 'p.id = $1',
  slug: 'p.slug = $1',
  host: 'p.id = (SELECT page_id FROM status_hosts WHERE host = $1)',
  org: 'p.org_id = $1',
} as const

const SELECT = `SELECT p.id, p.org_id AS "orgId", p.slug, p.title, p.text, p.is_public AS "isPublic",
    p.incidents_shown AS "incidentsShown", p.created_at AS "createdAt", p.generation,
    ARRAY(SELECT host FROM status_hosts WHERE page_id = p.id ORDER BY host) AS hosts,
    ARRAY(SELECT 'INC-' || i.number FROM status_hidden h JOIN incidents i ON i.id = h.incident_id
      WHERE h.page_id = p.id ORDER BY i.number) AS "hiddenIncidents"
  FROM status_pages p`

/** Complete pages whose `key` is `value`, in creation order. */
export async function readPages(
  sql: Sql,
  key: keyof typeof CONDITIONS,
  value: SqlValue,
): Promise<readonly StatusPage[]> {
  const text = `${SELECT} WHERE ${CONDITIONS[key]} ORDER BY p.created_at, p.id`
  const pages = await sql.rows<Omit<StatusPage, 'sections'>>(text, [value])
  if (pages.length === 0) return []
  const components = await sql.rows<ComponentRow & { readonly pageId: string }>(
    `SELECT t.page_id AS "pageId", t.name AS section, t.id AS "sectionId", c.id, c.service_id AS "serviceId",
       c.public_name AS name, c.text, c.shows_uptime AS "showsUptime", s.running_in = '' AS "isPaused"
     FROM status_sections t LEFT JOIN status_components c ON c.section_id = t.id
     LEFT JOIN services s ON s.id = c.service_id WHERE t.page_id = ANY($1::uuid[]) ORDER BY t.place, c.place`,
    [pages.map(({ id }) => id)],
  )
  return pages.map((page) => {
    const own = components.flatMap(({ pageId, ...row }) => (pageId === page.id ? row : []))
    return { ...page, sections: sectionsOf(own) }
  })
}

/** The page whose `key` is `value`; `undefined` when there is none. */
export async function readPage(
  sql: Sql,
  key: Exclude<keyof typeof CONDITIONS, 'org'>,
  value: SqlValue,
): Promise<StatusPage | undefined> {
  return (await readPages(sql, key, value))[0]
}
