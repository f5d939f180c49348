import type { IncidentStatus } from '../../../api/contract/incidentTerms.ts'
import type { PageIncident } from '../../store/statusPageStore.ts'
import type { PublicIncident } from './publicPage.ts'

/** Maximum number of names in a sentence; further ones are counted. */
const NAMES_MAX = 5

/**
 * `incident` with public names. Automatic texts name endpoints, regions and reasons, so they are replaced: only members
 * see them. Gap G51. Pure.
 */
export function publicIncident(
  incident: PageIncident,
  nameOf: (serviceId: string) => string,
): PublicIncident {
  const { displayId, status, severity, resolvedAt, earlierUpdates } = incident
  const components = incident.serviceIds.map(nameOf)
  const names = listed(components)
  return {
    ...{ displayId, status, severity, resolvedAt, earlierUpdates, components },
    startedAt: incident.createdAt,
    title: incident.isAutomatic ? `Problems with ${names}` : incident.title,
    updates: incident.updates.map(({ id, body, status, createdAt }) => ({
      ...{ id, status },
      at: createdAt,
      body: body ?? AUTOMATIC_TEXTS[status](names),
    })),
  }
}

/** The text for `resolved` is neutral, because the service may have been paused. */
const AUTOMATIC_TEXTS: Readonly<Record<IncidentStatus, (names: string) => string>> = {
  investigating: (names) => `Automatic checks of ${names} fail.`,
  identified: (names) => `Automatic checks of ${names} fail.`,
  monitoring: (names) => `Automatic checks of ${names} pass again.`,
  resolved: () => 'The incident was closed automatically.',
}

/** `A, B and C`. Pure. */
export function listed(names: readonly string[]): string {
  return listParts(names)
    .map(([before, name]) => `${before}${name}`)
    .join('')
}

/** The names of `A, B and C`, each with the text before it; beyond NAMES_MAX, the last one counts the others. Pure. */
export function listParts(names: readonly string[]): readonly (readonly [before: string, name: string])[] {
  const others = names.length - NAMES_MAX
  const shown = others > 0 ? [...names.slice(0, NAMES_MAX), `${others} more`] : names
  const last = shown.length - 1
  return shown.map((name, index) => [index === 0 ? '' : index === last ? ' and ' : ', ', name])
}
