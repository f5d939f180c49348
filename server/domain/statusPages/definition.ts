/** What an organisation publishes of its services: pages, their sections and components. */

/** Which incidents a page shows: those of people and the API, also automatic ones, or none. */
export const INCIDENTS_SHOWN = ['people', 'all', 'none'] as const
export type IncidentsShown = (typeof INCIDENTS_SHOWN)[number]

/** Most pages of an organisation, components of a page, and hosts of a page. Gap G51. */
export const PAGES_MAX = 50
export const COMPONENTS_MAX = 200
export const HOSTS_MAX = 10
/** Longest public name of a component or a section, title and text of a page (code points). */
export const PUBLIC_NAME_CHARS_MAX = 100
export const PAGE_TITLE_CHARS_MAX = 100
export const PAGE_TEXT_CHARS_MAX = 1_000
/** Longest text of a component (code points). */
export const COMPONENT_TEXT_CHARS_MAX = 200

/** A section with the services that it shows. */
export interface WantedSection {
  /** '' for components above the first named section. */
  readonly name: string
  readonly components: readonly {
    readonly serviceId: string
    /** `undefined` keeps the public name that the service has on the page, or else copies the name of the service. */
    readonly name: string | undefined
    /** A line below the public name; absent keeps the one that the service has on the page, or else ''. */
    readonly text?: string | undefined
    /** Whether its days and uptime are public; absent keeps what holds on the page, or else they are. */
    readonly showsUptime?: boolean | undefined
  }[]
}

/** Settings of a page that can be changed; absent members stay. */
export interface StatusPageChange {
  readonly slug?: string
  readonly title?: string
  readonly text?: string
  readonly isPublic?: boolean
  readonly incidentsShown?: IncidentsShown
  /** Replaces all sections. */
  readonly sections?: readonly WantedSection[]
  /** Display ids of incidents that the page hides from now on, or shows again. */
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
  /** From 1, grows with each change. */
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
  /** The component's own id, the same as long as the page lists the service. */
  readonly id: string
  readonly serviceId: string
  /** The public name, which a new name of the service does not change. */
  readonly name: string
  /** '' for none. */
  readonly text: string
  readonly showsUptime: boolean
  readonly isPaused: boolean
}

/** First segments of paths that a slug may not take. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['assets', 's', 'api'])

/** The problem of a slug, as the rest of a sentence; `undefined` when there is none. Pure. */
export function slugProblem(slug: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(slug)) {
    return 'must have 3 to 63 characters of a-z, 0-9 and -, and no - at either end'
  }
  return RESERVED_SLUGS.has(slug) ? `must not be ${slug}` : undefined
}

/** `text` as the name of a host, lower case; `undefined` when it is none. An address or a port is none. Pure. */
export function hostName(text: string): string | undefined {
  const host = text.toLowerCase()
  const isName =
    host.length <= 253 && host.split('.').every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label))
  return isName && host.includes('.') && !/^[0-9.]+$/.test(host) ? host : undefined
}
