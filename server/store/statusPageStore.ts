import type { IncidentStatus, Severity } from '../../api/contract/incidentTerms.ts'
import type { Actor } from '../domain/accounts/actor.ts'
import type { StatusPage, StatusPageChange } from '../domain/statusPages/definition.ts'

/** A page to create. By default it is public and shows incidents created by people. */
export interface NewStatusPage {
  readonly id: string
  readonly orgId: string
  readonly nowMs: number
  /** The actor; the command line when absent. */
  readonly by?: Actor
  readonly settings: StatusPageChange & { readonly slug: string; readonly title: string }
}

/** A change of a page in the console. */
export interface PageEdit {
  /** For the audit log. */
  readonly by: Actor
  /** The generation that was edited; a newer page rejects with `conflict`. Not checked when absent. */
  readonly generation?: number | undefined
}

/** Address of a page. */
export type PageAddress =
  | { readonly kind: 'slug'; readonly slug: string }
  | { readonly kind: 'host'; readonly host: string }

/** Administration of status pages. Methods reject with `not_found` for an unknown id. */
export interface StatusPageStore {
  /** Rejects with `invalid` when the slug is taken, a service is unknown or listed twice, or the limit of pages is reached. */
  createStatusPage(page: NewStatusPage): Promise<StatusPage>
  /** The pages of an organisation in creation order. */
  listStatusPages(orgId: string): Promise<readonly StatusPage[]>
  getStatusPage(id: string): Promise<StatusPage>
  /** Rejects as `createStatusPage`. The actor is the command line when `edit` is absent. */
  changeStatusPage(id: string, change: StatusPageChange, edit?: PageEdit): Promise<StatusPage>
  /** The actor is the command line when `by` is absent. */
  deleteStatusPage(id: string, by?: Actor): Promise<void>
  /** Rejects with `invalid` when the host is bound to another page. */
  bindStatusHost(id: string, host: string): Promise<StatusPage>
  unbindStatusHost(id: string, host: string): Promise<StatusPage>
}

/** An incident that a page shows: of a listed service, of a kind that the page shows, and not hidden. */
export interface PageIncident {
  readonly id: string
  readonly displayId: string
  readonly title: string
  readonly status: IncidentStatus
  readonly severity: Severity
  readonly isAutomatic: boolean
  readonly createdAt: string
  readonly resolvedAt: string | null
  /** The affected services that the page lists, in its order. */
  readonly serviceIds: readonly string[]
  /** In posting order; only the newest when there are too many. */
  readonly updates: readonly PageUpdate[]
  readonly earlierUpdates: number
}

export interface PageUpdate {
  readonly id: string
  readonly status: IncidentStatus
  readonly createdAt: string
  /** `null` for an automatic update, whose text only members see. */
  readonly body: string | null
}

/** A maintenance window of listed services. */
export interface PageWindow {
  readonly id: string
  readonly title: string
  /** When it was last changed; at first, when it was created. */
  readonly updatedAt: string
  readonly startsAt: string
  readonly endsAt: string
  readonly serviceIds: readonly string[]
}

/** Selects incidents of a page, the newest first. */
export type PageIncidentFilter =
  | { readonly kind: 'open' }
  | { readonly kind: 'resolved since'; readonly from: string }
  | { readonly kind: 'created'; readonly from: string; readonly until: string }
  | { readonly kind: 'one'; readonly number: number }

/** Reads for status pages. */
export interface PublishedStore {
  /** A number that changes with each commit of any program: reads are valid as long as it is the same. */
  changeCount(): number
  /** `undefined` when there is no such page, or it is not public. */
  publishedPage(address: PageAddress): Promise<StatusPage | undefined>
  /** At most `countMax`, each with at most `updatesMax` updates. */
  pageIncidents(
    page: StatusPage,
    filter: PageIncidentFilter,
    bounds: { readonly countMax: number; readonly updatesMax: number },
  ): Promise<readonly PageIncident[]>
  /** The different severities of all open incidents of each service that has one on the page. */
  pageSeverities(page: StatusPage): Promise<ReadonlyMap<string, readonly Severity[]>>
  /** When the oldest incident of the page was created; `undefined` when it has none. */
  oldestPageIncident(page: StatusPage): Promise<string | undefined>
  /** The windows that overlap a period, by their start, at most `countMax`. */
  pageWindows(
    page: StatusPage,
    period: { readonly from: string; readonly until: string },
    countMax: number,
  ): Promise<readonly PageWindow[]>
}
