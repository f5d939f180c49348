import type { PublishedStore } from '../store/statusPageStore.ts'
import { atomFeed } from './formats/atomFeed.ts'
import { stateBadge } from './formats/stateBadge.ts'
import { statusDocument } from './formats/statusDocument.ts'
import { currentPage } from './pages/currentPage.ts'
import type { PageContext } from './pages/frame.ts'
import { historyPage } from './pages/historyPage.ts'
import { incidentPage } from './pages/incidentPage.ts'
import type { Target } from './target.ts'
import { publicIncident } from './view/incidentTexts.ts'
import type { PageView } from './view/pageViews.ts'
import { publicNames, publicWindow } from './view/readPublicPage.ts'

/** Maximum number of incidents and windows of a month and of a feed, and of updates of an incident. */
const MONTH_MAX = 200
const FEED_MAX = 50
const UPDATES_MAX = 1_000
/** Days for which resolved incidents stay in a feed. */
const FEED_DAYS = 30
const DAY_MS = 24 * 60 * 60 * 1_000

/** Kinds of responses, which have different headers. */
export type ResponseKind = 'html' | 'atom' | 'json' | 'badge'

/** A rendered response. */
export interface RenderedResponse {
  readonly kind: ResponseKind
  readonly body: string
}

/** Dependencies for rendering. */
export interface ResponseSources {
  readonly store: PublishedStore
  /** Origin of the status pages, without a trailing slash; `undefined` when unknown. */
  readonly statusUrl: string | undefined
}

/** The response to `target`; `undefined` when the page has no such month, incident or component. */
export async function renderResponse(
  sources: ResponseSources,
  target: Target,
  view: PageView,
): Promise<RenderedResponse | undefined> {
  const { resource, root, theme } = target
  const { page, shown } = view
  const context: PageContext = { root, theme, siteTitle: page.title }
  switch (resource.kind) {
    case 'current':
      return { kind: 'html', body: currentPage(context, shown) }
    case 'history':
      return historyOf(sources, context, view, resource.month)
    case 'incident':
      return incidentOf(sources, context, view, resource.number)
    case 'feed':
      return feedOf(sources, target, view)
    case 'document':
      return { kind: 'json', body: statusDocument(shown, publicUrl(sources, target, view)) }
    case 'badge': {
      const { componentId } = resource
      if (componentId === undefined) {
        return { kind: 'badge', body: stateBadge(page.title, shown.headline.state, theme) }
      }
      const component = shown.sections
        .flatMap(({ components }) => components)
        .find(({ id }) => id === componentId)
      if (component === undefined) return undefined
      return { kind: 'badge', body: stateBadge(component.name, component.state, theme) }
    }
  }
}

/**
 * Public URL of the page: its first host, or its path below the origin of the pages; only the path when neither is
 * known.
 */
function publicUrl({ statusUrl }: ResponseSources, { root }: Target, { page }: PageView): string {
  const [host] = page.hosts
  if (statusUrl === undefined) return root
  return host === undefined ? `${statusUrl}/s/${page.slug}` : `https://${host}/`
}

async function historyOf(
  { store }: ResponseSources,
  context: PageContext,
  { page, shown, oldestMonth }: PageView,
  asked: string | undefined,
): Promise<RenderedResponse | undefined> {
  const present = new Date(shown.readAtMs).toISOString().slice(0, 7)
  const month = asked ?? present
  const isMonth = /^\d{4}-(0[1-9]|1[0-2])$/.test(month)
  if (!isMonth || month > present || month < oldestMonth) return undefined
  const period = { from: `${month}-01`, until: `${monthAfter(month, 1)}-01` }
  const incidents = await store.pageIncidents(
    page,
    { kind: 'created', ...period },
    { countMax: MONTH_MAX + 1, updatesMax: 1 },
  )
  const windows = await store.pageWindows(page, period, MONTH_MAX)
  const nameOf = publicNames(page)
  const body = historyPage(context, {
    month,
    earlier: month > oldestMonth ? monthAfter(month, -1) : undefined,
    later: month < present ? monthAfter(month, 1) : undefined,
    incidents: incidents.slice(0, MONTH_MAX).map((incident) => publicIncident(incident, nameOf)),
    hasMore: incidents.length > MONTH_MAX,
    windows: windows
      .filter(({ startsAt }) => startsAt >= period.from)
      .map((window) => publicWindow(window, nameOf)),
  })
  return { kind: 'html', body }
}

/** YYYY-MM of the month `count` months after `month`. Pure. */
function monthAfter(month: string, count: number): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7)
}

async function incidentOf(
  { store }: ResponseSources,
  context: PageContext,
  { page }: PageView,
  number: number,
): Promise<RenderedResponse | undefined> {
  const [incident] = await store.pageIncidents(
    page,
    { kind: 'one', number },
    { countMax: 1, updatesMax: UPDATES_MAX },
  )
  if (incident === undefined) return undefined
  return { kind: 'html', body: incidentPage(context, publicIncident(incident, publicNames(page))) }
}

async function feedOf(sources: ResponseSources, target: Target, view: PageView): Promise<RenderedResponse> {
  const { store } = sources
  const { page, shown } = view
  const from = new Date(shown.readAtMs - FEED_DAYS * DAY_MS).toISOString()
  const bounds = { countMax: FEED_MAX, updatesMax: FEED_MAX }
  const open = await store.pageIncidents(page, { kind: 'open' }, bounds)
  const resolved = await store.pageIncidents(page, { kind: 'resolved since', from }, bounds)
  const nameOf = publicNames(page)
  const { id, title, createdAt } = page
  const body = atomFeed({
    ...{ id, title, createdAt },
    url: publicUrl(sources, target, view),
    incidents: [...open, ...resolved].map((incident) => publicIncident(incident, nameOf)),
    windows: shown.maintenance,
  })
  return { kind: 'atom', body }
}
