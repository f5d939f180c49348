import type { StatusPage } from '../../domain/statusPages/definition.ts'
import type { StateSeconds } from '../../results/history/daySeconds.ts'
import type { ServiceDay, ServiceNow } from '../../results/measurements/measurements.ts'
import type { PageWindow, PublishedStore } from '../../store/statusPageStore.ts'
import { componentState, headlineOf } from './componentState.ts'
import { publicIncident } from './incidentTexts.ts'
import {
  DAYS_SHOWN,
  type PublicComponent,
  type PublicHistory,
  type PublicPage,
  type PublicWindow,
  RECENT_DAYS,
} from './publicPage.ts'
import { uptimeDaysOf, uptimeOf } from './uptime.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const MINUTE_S = 60
/** Maximum number of open incidents, resolved incidents and windows on a page. */
const OPEN_MAX = 20
const RECENT_MAX = 50
const WINDOWS_MAX = 20
/** Maximum number of updates of an open and of a resolved incident on the page; the page of an incident has all. */
const OPEN_UPDATES_MAX = 5
const RECENT_UPDATES_MAX = 1
/** End of an unlimited period. */
const FAR_AWAY = '9999-12-31T00:00:00.000Z'

/** Measurements for a page. */
export interface PageMeasurements {
  readonly states: ReadonlyMap<string, ServiceNow>
  readonly days: readonly ServiceDay[]
}

/** The UTC days that a page shows at `nowMs`, oldest first, as YYYY-MM-DD. Pure. */
export function daysShown(nowMs: number): readonly string[] {
  return Array.from({ length: DAYS_SHOWN }, (_, index) =>
    new Date(nowMs - (DAYS_SHOWN - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

/** The public data of `page` at `nowMs`, with the given measurements. */
export async function readPublicPage(
  store: PublishedStore,
  page: StatusPage,
  { states, days }: PageMeasurements,
  nowMs: number,
): Promise<PublicPage> {
  const now = new Date(nowMs).toISOString()
  const recentFrom = new Date(nowMs - RECENT_DAYS * DAY_MS).toISOString()
  const open = await store.pageIncidents(
    page,
    { kind: 'open' },
    { countMax: OPEN_MAX + 1, updatesMax: OPEN_UPDATES_MAX },
  )
  const recent = await store.pageIncidents(
    page,
    { kind: 'resolved since', from: recentFrom },
    { countMax: RECENT_MAX + 1, updatesMax: RECENT_UPDATES_MAX },
  )
  // Incidents beyond the shown ones count too.
  const severities = await store.pageSeverities(page)
  const windows = await store.pageWindows(page, { from: now, until: FAR_AWAY }, WINDOWS_MAX)
  const nameOf = publicNames(page)
  const dayOf = new Map(days.map(({ serviceId, day, ...seconds }) => [`${serviceId} ${day}`, seconds]))
  const shown = daysShown(nowMs)
  const underWay = windows.filter(({ startsAt }) => startsAt <= now)
  const sections = page.sections
    .filter(({ components }) => components.length > 0)
    .map(({ name, components }) => ({
      name,
      components: components.map(({ id, name, text, serviceId, isPaused, showsUptime }): PublicComponent => {
        const state = componentState({
          isPaused,
          isInMaintenance: underWay.some(({ serviceIds }) => serviceIds.includes(serviceId)),
          measured: states.get(serviceId)?.state,
          severities: severities.get(serviceId) ?? [],
        })
        const history = showsUptime ? historyOf((day) => dayOf.get(`${serviceId} ${day}`), shown) : null
        return { id, name, text, state, history }
      }),
    }))
  return {
    title: page.title,
    text: page.text,
    headline: headlineOf(sections.flatMap(({ components }) => components.map(({ state }) => state))),
    asOf: newestMinute(page, states),
    readAtMs: nowMs,
    sections,
    incidents: open.slice(0, OPEN_MAX).map((incident) => publicIncident(incident, nameOf)),
    hasMoreIncidents: open.length > OPEN_MAX,
    recent: recent.slice(0, RECENT_MAX).map((incident) => publicIncident(incident, nameOf)),
    hasMoreRecent: recent.length > RECENT_MAX,
    maintenance: windows.map((window) => publicWindow(window, nameOf)),
  }
}

function historyOf(
  secondsOf: (day: string) => StateSeconds | undefined,
  shown: readonly string[],
): PublicHistory {
  const days = shown.map((day) => ({ day, seconds: secondsOf(day) ?? null }))
  const seconds = days.map((one) => one.seconds)
  return { uptime: uptimeOf(seconds), uptimeDays: uptimeDaysOf(seconds), days }
}

/** The public name of each service that a page lists. Pure. */
export function publicNames({ sections }: StatusPage): (serviceId: string) => string {
  const names = new Map(
    sections.flatMap(({ components }) => components.map(({ serviceId, name }) => [serviceId, name])),
  )
  return (serviceId) => names.get(serviceId) ?? ''
}

/** `window` with public names. Pure. */
export function publicWindow(
  { id, title, updatedAt, startsAt, endsAt, serviceIds }: PageWindow,
  nameOf: (serviceId: string) => string,
): PublicWindow {
  return { id, title, updatedAt, startsAt, endsAt, components: serviceIds.map(nameOf) }
}

function newestMinute({ sections }: StatusPage, states: PageMeasurements['states']): string | null {
  const newestS = Math.max(
    0,
    ...sections.flatMap(({ components }) =>
      components.map(({ serviceId }) => states.get(serviceId)?.lastResultS ?? 0),
    ),
  )
  return newestS === 0 ? null : new Date((newestS - (newestS % MINUTE_S)) * 1_000).toISOString()
}
