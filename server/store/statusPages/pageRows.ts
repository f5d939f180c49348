import type { PageComponent, PageSection, StatusPage } from '../../domain/statusPages/definition.ts'
import { rows, type Script, type ScriptValue } from '../scripts/script.ts'

/** Conditions that select pages; `$1` is the value. */
const CONDITIONS = {
  id: 'p.id = $1',
  slug: 'p.slug = $1',
  host: 'p.id = (SELECT page_id FROM status_hosts WHERE host = $1)',
  org: 'p.org_id = $1',
} as const

type PageRow = Omit<StatusPage, 'isPublic' | 'hosts' | 'sections' | 'hiddenIncidents'> & {
  /** A number in SQLite, as all booleans. */
  readonly isPublic: boolean | number
  /** Separated by commas; `null` for none. */
  readonly hosts: string | null
  readonly hidden: string | null
}

/** A component with its section; a section without services has one row without a component. */
type ComponentRow = Omit<PageComponent, 'id' | 'showsUptime' | 'isPaused'> & {
  readonly pageId: string
  readonly section: string
  readonly sectionId: string
  readonly id: string | null
  readonly showsUptime: boolean | number
  readonly isPaused: boolean | number
}

/** Complete pages whose `key` is `value`, in creation order. */
export function* readPages(key: keyof typeof CONDITIONS, value: ScriptValue): Script<readonly StatusPage[]> {
  const pages = yield* rows<PageRow>(
    `SELECT p.id, p.org_id AS "orgId", p.slug, p.title, p.text, p.is_public AS "isPublic",
       p.incidents_shown AS "incidentsShown", p.created_at AS "createdAt", p.generation,
       (SELECT string_agg(host, ',' ORDER BY host) FROM status_hosts WHERE page_id = p.id) AS hosts,
       (SELECT string_agg('INC-' || i.number, ',' ORDER BY i.number)
        FROM status_hidden h JOIN incidents i ON i.id = h.incident_id WHERE h.page_id = p.id) AS hidden
     FROM status_pages p WHERE ${CONDITIONS[key]} ORDER BY p.created_at, p.id`,
    [value],
  )
  if (pages.length === 0) return []
  const components = yield* rows<ComponentRow>(
    `SELECT t.page_id AS "pageId", t.name AS section, t.id AS "sectionId", c.id, c.service_id AS "serviceId",
       c.public_name AS name, c.text, c.shows_uptime AS "showsUptime", s.running_in = '' AS "isPaused"
     FROM status_pages p JOIN status_sections t ON t.page_id = p.id
     LEFT JOIN status_components c ON c.section_id = t.id LEFT JOIN services s ON s.id = c.service_id
     WHERE ${CONDITIONS[key]} ORDER BY t.place, c.place`,
    [value],
  )
  return pages.map(({ isPublic, hosts, hidden, ...page }) => ({
    ...page,
    isPublic: Boolean(isPublic),
    hosts: hosts?.split(',') ?? [],
    sections: sectionsOf(components.filter(({ pageId }) => pageId === page.id)),
    hiddenIncidents: hidden?.split(',') ?? [],
  }))
}

/** The page whose `key` is `value`; `undefined` when there is none. */
export function* readPage(
  key: Exclude<keyof typeof CONDITIONS, 'org'>,
  value: ScriptValue,
): Script<StatusPage | undefined> {
  const [page] = yield* readPages(key, value)
  return page
}

/** The sections of a page, from its rows in order. */
function sectionsOf(ofPage: readonly ComponentRow[]): readonly PageSection[] {
  const sections = new Map<string, { name: string; components: PageComponent[] }>()
  for (const { pageId: _, section, sectionId, id, showsUptime, isPaused, ...row } of ofPage) {
    const known = sections.get(sectionId) ?? { name: section, components: [] }
    sections.set(sectionId, known)
    if (id === null) continue
    known.components.push({ id, ...row, showsUptime: Boolean(showsUptime), isPaused: Boolean(isPaused) })
  }
  return [...sections.values()]
}
