/** The public view of an organisation's services: pages with sections and components. */

/** The incidents that a page shows: those from people and the API, also automatic ones, or none. */
export const INCIDENTS_SHOWN = ['people', 'all', 'none'] as const
export type IncidentsShown = (typeof INCIDENTS_SHOWN)[number]

/** Maximum number of pages of an organisation, of components of a page, and of hosts of a page. Gap G51. */
export const PAGES_MAX = 50
export const COMPONENTS_MAX = 200
export const HOSTS_MAX = 10
/** Maximum length of the public name of a component or section, and of the title and text of a page (code points). */
export const PUBLIC_NAME_CHARS_MAX = 100
export const PAGE_TITLE_CHARS_MAX = 100
export const PAGE_TEXT_CHARS_MAX = 1_000
/** Maximum length of a component's text (code points). */
export const COMPONENT_TEXT_CHARS_MAX = 200

/** A section with the services that it shows. */
export interface WantedSection {
  /** '' for components above the first named section. */
  readonly name: string
  readonly components: readonly {
    readonly serviceId: string
    /** `undefined` keeps the service's public name on the page, or else copies the name of the service. */
    readonly name: string | undefined
    /** A line below the public name. Absent keeps the service's present text on the page, or else ''. */
    readonly text?: string | undefined
    /** Whether days and uptime are public. Absent keeps the present setting on the page, or else they are. */
    readonly showsUptime?: boolean | undefined
  }[]
}

/** Changes to the settings of a page; absent ones stay unchanged. */
export interface StatusPageChange {
  readonly slug?: string
  readonly title?: string
  readonly text?: string
  readonly isPublic?: boolean
  readonly incidentsShown?: IncidentsShown
  /** Replaces all sections. */
  readonly sections?: readonly WantedSection[]
  /** Display ids of incidents to hide on the page, or to show again. */
  readonly hide?: readonly string[]
  readonly show?: readonly string[]
}

/** A stored page. */
export interface StatusPage {
  readonly id: string
  readonly orgId: string
  readonly slug: string
  readonly title: string
  readonly text: string
  readonly isPublic: boolean
  readonly incidentsShown: IncidentsShown
  readonly createdAt: string
  /** Starts at 1 and increases with each change. */
  readonly generation: number
  readonly hosts: readonly string[]
  readonly sections: readonly PageSection[]
  /** Display ids of hidden incidents. */
  readonly hiddenIncidents: readonly string[]
}

export interface PageSection {
  readonly name: string
  readonly components: readonly PageComponent[]
}

export interface PageComponent {
  /** The component's own id, which stays the same as long as the page lists the service. */
  readonly id: string
  readonly serviceId: string
  /** The public name, which does not follow the name of the service. */
  readonly name: string
  /** '' for none. */
  readonly text: string
  readonly showsUptime: boolean
  readonly isPaused: boolean
}

/** First path segments that a slug must not be. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['assets', 's', 'api'])

/** The problem of a slug, as the rest of a sentence; `undefined` when there is none. Pure. */
export function slugProblem(slug: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(slug)) {
    return 'must have 3 to 63 characters of a-z, 0-9 and -, and no - at either end'
  }
  return RESERVED_SLUGS.has(slug) ? `must not be ${slug}` : undefined
}

/** `text` as a host name in lower case; `undefined` when it is none, such as an address or a name with a port. Pure. */
export function hostName(text: string): string | undefined {
  const host = text.toLowerCase()
  const isName =
    host.length <= 253 && host.split('.').every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label))
  return isName && host.includes('.') && !/^[0-9.]+$/.test(host) ? host : undefined
}
