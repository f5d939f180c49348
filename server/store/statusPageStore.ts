import type { IncidentStatus, Severity } from '../../api/contract/incidentTerms.ts'
import type { Actor } from '../domain/accounts/actor.ts'
import type { StatusPage, StatusPageChange } from '../domain/statusPages/definition.ts'

/** A page to be made. Its incidents are those of people, and it is public, unless the change says otherwise. */
export interface NewStatusPage {
  readonly id: string
  readonly orgId: string
  readonly nowMs: number
  /** Who makes it; the command line when absent. */
  readonly by?: Actor
  readonly settings: StatusPageChange & { readonly slug: string; readonly title: string }
}

/** How a page is changed by the console. */
export interface PageEdit {
  /** For the audit log. */
  readonly by: Actor
  /** The generation that the change was made from; a newer page rejects with `conflict`. Any one when absent. */
  readonly generation?: number | undefined
}

/** Where a page is asked for. */
export type PageAddress =
  | { readonly kind: 'slug'; readonly slug: string }
  | { readonly kind: 'host'; readonly host: string }

/** Administration of status pages. Methods reject with `not_found` for an unknown id. */
export interface StatusPageStore {
  /** Rejects with `invalid` when the slug is taken, a service is unknown or listed twice, or there is no room. */
  createStatusPage(page: NewStatusPage): Promise<StatusPage>
  /** The pages of an organisation in creation order. */
  listStatusPages(orgId: string): Promise<readonly StatusPage[]>
  getStatusPage(id: string): Promise<StatusPage>
  /** Rejects as `createStatusPage`. The command line changes it when there is no `edit`. */
  changeStatusPage(id: string, change: StatusPageChange, edit?: PageEdit): Promise<StatusPage>
  /** The command line deletes it when `by` is absent. */
  deleteStatusPage(id: string, by?: Actor): Promise<void>
  /** Rejects with `invalid` when the host is bound to another page. */
  bindStatusHost(id: string, host: string): Promise<StatusPage>
  unbindStatusHost(id: string, host: string): Promise<StatusPage>
}

/** An incident as a page may show it: of a listed service, of a kind that the page shows, and not hidden there. */
export interface PageIncident {
  readonly id: string
  readonly displayId: string
  readonly title: string
  readonly status: IncidentStatus
  readonly severity: Severity
  readonly isAutomatic: boolean
  readonly createdAt: string
  readonly resolvedAt: string | null
  /** Those that the page lists, in its order. */
  readonly serviceIds: readonly string[]
  /** In posting order; the newest ones when there are more. */
  readonly updates: readonly PageUpdate[]
  /** How many earlier updates there are. */
  readonly earlierUpdates: number
}

export interface PageUpdate {
  readonly id: string
  readonly status: IncidentStatus
  readonly createdAt: string
  /** `null` for an update of automation, whose text is for members. */
  readonly body: string | null
}

/** A maintenance window of listed services. */
export interface PageWindow {
  readonly id: string
  readonly title: string
  readonly createdAt: string
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

/** What status pages read of a store. */
export interface PublishedStore {
  /** A number that changes with each commit of any program: what was read under it is still valid. */
  changeCount(): number
  /** `undefined` when there is no such page, or it is not public. */
  publishedPage(address: PageAddress): Promise<StatusPage | undefined>
  /** At most `countMax`, each with at most `updatesMax` updates. */
  pageIncidents(
    page: StatusPage,
    filter: PageIncidentFilter,
    bounds: { readonly countMax: number; readonly updatesMax: number },
  ): Promise<readonly PageIncident[]>
  /** When the oldest incident of the page was created; `undefined` when it has none. */
  oldestPageIncident(page: StatusPage): Promise<string | undefined>
  /** The windows that overlap a period, by their start, at most `countMax`. */
  pageWindows(
    page: StatusPage,
    period: { readonly from: string; readonly until: string },
    countMax: number,
  ): Promise<readonly PageWindow[]>
}
