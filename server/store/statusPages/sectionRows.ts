import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../api/contract/apiError.ts'
import {
  COMPONENTS_MAX,
  type PageComponent,
  type StatusPage,
  type WantedSection,
} from '../../domain/statusPages/definition.ts'
import { serviceNotFound } from '../shared/serviceNotFound.ts'

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
