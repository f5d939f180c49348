import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../api/contract/apiError.ts'
import {
  COMPONENTS_MAX,
  HOSTS_MAX,
  type PageComponent,
  PAGES_MAX,
  type PageSection,
  type StatusPage,
  type WantedSection,
} from '../../domain/statusPages/definition.ts'
import type { PageEdit } from '../statusPageStore.ts'
import type { AuditedAction } from './auditedAction.ts'
import { serviceNotFound } from './serviceNotFound.ts'

/** The error for an unknown page. Pure. */
export function pageNotFound(id: string): ApiError {
  return new ApiError('not_found', `there is no status page ${id}`)
}

/** The error for an unknown incident of the organisation. Pure. */
export function incidentNotFound(displayId: string): ApiError {
  return new ApiError('not_found', `the organisation has no incident ${displayId}`)
}

/** The number in the display id of an incident; 0, which no incident has, for any other text. Pure. */
export function numberIn(displayId: string): number {
  return Number(/^INC-(\d{1,15})$/i.exec(displayId)?.[1] ?? 0)
}

/** The error for the slug of another page. Pure. */
export function slugTaken(slug: string): ApiError {
  return new ApiError('invalid', `the slug ${slug} is taken: choose another one`)
}

/** The error for a host that is bound to the page `pageId`. Pure. */
export function hostBound(host: string, pageId: string): ApiError {
  return new ApiError('invalid', `${host} is bound to the page ${pageId}: unbind it there first`)
}

/** The error for a host that is not bound to the page `pageId`. Pure. */
export function hostUnbound(host: string, pageId: string): ApiError {
  return new ApiError('not_found', `${host} is not bound to the page ${pageId}`)
}

/** Throws `invalid` when an organisation cannot have more than this number of pages. */
export function assertMayAddPage(pages: number): void {
  if (pages < PAGES_MAX) return
  throw new ApiError('invalid', `an organisation has at most ${PAGES_MAX} status pages`)
}

/** Throws `invalid` when the page cannot have another host. */
export function assertMayAddHost({ hosts }: StatusPage): void {
  if (hosts.length < HOSTS_MAX) return
  throw new ApiError('invalid', `a page has at most ${HOSTS_MAX} hosts`)
}

/** Throws `conflict` when the page has changed since `edit` was made. */
export function assertUnchanged({ generation }: StatusPage, edit: PageEdit | undefined): void {
  if (edit?.generation === undefined || edit.generation === generation) return
  throw new ApiError('conflict', 'the page has changed since it was read')
}

/** A section to store, with its components in order. */
export interface SectionRow {
  readonly id: string
  readonly name: string
  readonly components: readonly Omit<PageComponent, 'isPaused'>[]
}

/** Ids of the services that `wanted` lists. Throws `invalid` when one is listed twice, or there are too many. */
export function wantedServices(wanted: readonly WantedSection[]): readonly string[] {
  const ids = wanted.flatMap(({ components }) => components.map(({ serviceId }) => serviceId))
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new ApiError('invalid', `the service ${twice} is listed twice`)
  if (ids.length > COMPONENTS_MAX) {
    throw new ApiError('invalid', `a page lists at most ${COMPONENTS_MAX} services`)
  }
  return ids
}

/**
 * The sections that replace those of a page. A service that stays keeps its component id, which badge URLs contain, and
 * the values that `wanted` leaves out. `nameOf` returns the name of a service of the organisation; for other services
 * this throws `not_found`.
 */
export function sectionRows(
  { sections }: StatusPage,
  wanted: readonly WantedSection[],
  nameOf: (serviceId: string) => string | undefined,
): readonly SectionRow[] {
  const before = new Map(
    sections.flatMap(({ components }) => components.map((one) => [one.serviceId, one] as const)),
  )
  return wanted.map(({ name: sectionName, components }) => ({
    id: randomUUID(),
    name: sectionName,
    components: components.map(({ serviceId, name, text, showsUptime }) => {
      const serviceName = nameOf(serviceId)
      if (serviceName === undefined) throw serviceNotFound(serviceId)
      const known = before.get(serviceId)
      return {
        ...{ id: known?.id ?? randomUUID(), serviceId, name: name ?? known?.name ?? serviceName },
        text: text ?? known?.text ?? '',
        showsUptime: showsUptime ?? known?.showsUptime ?? true,
      }
    }),
  }))
}

/** A row of a component with its section; a section without services has one row without a component. */
export interface ComponentRow extends Omit<PageComponent, 'id'> {
  readonly section: string
  readonly sectionId: string
  readonly id: string | null
}

/** The sections of a page, from their rows in order. Pure. */
export function sectionsOf(rows: readonly ComponentRow[]): readonly PageSection[] {
  const sections = new Map<string, { name: string; components: PageSection['components'][number][] }>()
  for (const { section, sectionId, id, ...row } of rows) {
    const known = sections.get(sectionId) ?? { name: section, components: [] }
    sections.set(sectionId, known)
    if (id !== null) known.components.push({ id, ...row })
  }
  return [...sections.values()]
}

/** An action on a page. */
export type PageVerb = 'create' | 'update' | 'delete' | 'bind_host' | 'unbind_host'

/** The audit entry of an action on a page, by the command line when `by` is absent. Pure. */
export function pageAction(
  verb: PageVerb,
  {
    page,
    by = { kind: 'cli' },
    nowMs,
    detail,
  }: {
    readonly page: Pick<StatusPage, 'id' | 'orgId'>
    readonly by?: AuditedAction['by'] | undefined
    readonly nowMs: number
    readonly detail: Readonly<Record<string, unknown>>
  },
): AuditedAction {
  return { orgId: page.orgId, targetId: page.id, by, nowMs, detail, action: `status_page.${verb}` }
}
