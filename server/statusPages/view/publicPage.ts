import type { IncidentStatus, Severity } from '../../../api/contract/incidentTerms.ts'
import type { ShownState } from '../../../web/stateShapes.ts'
import type { StateSeconds } from '../../results/history/daySeconds.ts'
import type { Headline } from './componentState.ts'

/**
 * All public data of a page, the only source of pages, feeds and badges. It has no fields for URLs, headers,
 * assertions, errors, or ids of services, keys and people.
 */
export interface PublicPage {
  readonly title: string
  readonly text: string
  readonly headline: Headline
  /** The minute of the newest result (ISO 8601); `null` before the first. */
  readonly asOf: string | null
  /** When it was read (milliseconds since the epoch). */
  readonly readAtMs: number
  readonly sections: readonly { readonly name: string; readonly components: readonly PublicComponent[] }[]
  /** Open ones, newest first. */
  readonly incidents: readonly PublicIncident[]
  /** Whether there are older open ones, which the page leaves out. */
  readonly hasMoreIncidents: boolean
  /** Those resolved within RECENT_DAYS, newest first. */
  readonly recent: readonly PublicIncident[]
  readonly hasMoreRecent: boolean
  /** Current and upcoming ones, ordered by start. */
  readonly maintenance: readonly PublicWindow[]
}

export interface PublicComponent {
  /** The id of the component, not of its service. */
  readonly id: string
  readonly name: string
  /** A line below the name; '' for none. */
  readonly text: string
  readonly state: ShownState
  /** `null` when the page does not show history. */
  readonly history: PublicHistory | null
}

/** Public history of a component. */
export interface PublicHistory {
  /** Uptime over `uptimeDays` days (percent, truncated to two decimals); `null` without data. */
  readonly uptime: number | null
  /** Days from the first one with data to the present one, at most DAYS_SHOWN; 0 without data. */
  readonly uptimeDays: number
  /** DAYS_SHOWN days, oldest first. */
  readonly days: readonly PublicDay[]
}

/** A UTC day of a component. */
export interface PublicDay {
  /** YYYY-MM-DD. */
  readonly day: string
  /** `null` for a day without monitoring. */
  readonly seconds: StateSeconds | null
}

export interface PublicIncident {
  readonly displayId: string
  readonly title: string
  readonly status: IncidentStatus
  readonly severity: Severity
  readonly startedAt: string
  readonly resolvedAt: string | null
  /** Public names of the affected components. */
  readonly components: readonly string[]
  /** In posting order. */
  readonly updates: readonly PublicUpdate[]
  /** Number of earlier updates left out. */
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
  /** When it was last changed; at first, when it was created. */
  readonly updatedAt: string
  readonly startsAt: string
  readonly endsAt: string
  readonly components: readonly string[]
}

/** Days of a component's history, including the present one. */
export const DAYS_SHOWN = 90
/** Days for which resolved incidents stay on the page. */
export const RECENT_DAYS = 14
