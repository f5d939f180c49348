import type { IncidentStatus, Severity } from '../../../api/contract/incidentTerms.ts'
import type { ShownState } from '../../../web/stateShapes.ts'
import type { Headline } from './componentState.ts'

/**
 * All that the public sees of a page. Pages, feeds and badges are made of this and of nothing else: it has no place for
 * addresses, headers, assertions, errors, or ids of services, keys and people.
 */
export interface PublicPage {
  readonly title: string
  readonly text: string
  readonly headline: Headline
  /** The minute of the newest result (ISO 8601); `null` before the first. */
  readonly asOf: string | null
  /** When all of this was read (milliseconds since the epoch). */
  readonly readAtMs: number
  readonly sections: readonly { readonly name: string; readonly components: readonly PublicComponent[] }[]
  /** Open ones, the newest first. */
  readonly incidents: readonly PublicIncident[]
  /** Those resolved within RECENT_DAYS, the newest first. */
  readonly recent: readonly PublicIncident[]
  /** Under way and upcoming ones, by their start. */
  readonly maintenance: readonly PublicWindow[]
}

export interface PublicComponent {
  /** The component's own id. */
  readonly id: string
  readonly name: string
  /** A line below the name; '' for none. */
  readonly text: string
  readonly state: ShownState
  /** `null` when the page does not show it. */
  readonly history: PublicHistory | null
}

/** What is public of the past of a component. */
export interface PublicHistory {
  /** Uptime over `uptimeDays` days (percent with two decimals, cut); `null` without data. */
  readonly uptime: number | null
  /** Days from the first one with data to the present one, at most DAYS_SHOWN; 0 without data. */
  readonly uptimeDays: number
  /** DAYS_SHOWN days, the oldest first, the present one last. */
  readonly days: readonly PublicDay[]
}

/** What happened on a UTC day. */
export interface PublicDay {
  /** YYYY-MM-DD. */
  readonly day: string
  /** `null` for a day without monitoring. */
  readonly seconds: DaySeconds | null
}

/** Seconds of a day in each state. */
export interface DaySeconds {
  readonly up: number
  readonly degraded: number
  readonly down: number
  readonly unknown: number
  readonly paused: number
  readonly maintenance: number
}

export interface PublicIncident {
  readonly displayId: string
  readonly title: string
  readonly status: IncidentStatus
  readonly severity: Severity
  readonly startedAt: string
  readonly resolvedAt: string | null
  /** Public names of what it touches. */
  readonly components: readonly string[]
  /** In posting order. */
  readonly updates: readonly PublicUpdate[]
  /** How many updates before these are left out. */
  readonly earlierUpdates: number
}

export interface PublicUpdate {
  readonly id: string
  readonly at: string
  readonly status: IncidentStatus
  readonly body: string
}

export interface PublicWindow {
  readonly id: string
  readonly title: string
  readonly announcedAt: string
  readonly startsAt: string
  readonly endsAt: string
  readonly components: readonly string[]
}

/** Days of a component's history, the present one included. */
export const DAYS_SHOWN = 90
/** Days for which resolved incidents stay on the page. */
export const RECENT_DAYS = 14
