import type { Incident } from '../../../api/contract/incident.ts'
import type { StatusPage } from '../../domain/statusPages/definition.ts'
import type { StoredChannel } from '../../store/notificationStore.ts'
import type { Store } from '../../store/store.ts'

/** A status page that lists services of an incident. */
export interface ShownOn {
  readonly page: StatusPage
  /** Public names of the services of the incident on the page. */
  readonly names: readonly string[]
  readonly isHidden: boolean
}

/** The audience of an incident. */
export interface Audience {
  /** Public pages that show it, or on which it is hidden. */
  readonly pages: readonly ShownOn[]
  /** Channels that get its events. */
  readonly channels: readonly StoredChannel[]
}

/** The audience of the next update of `incident`. */
export async function audienceOf(
  store: Store,
  orgId: string,
  incident: Pick<Incident, 'service_ids' | 'auto_managed'> & { readonly display_id?: string },
): Promise<Audience> {
  const [pages, channels] = [await store.listStatusPages(orgId), await store.listChannels(orgId)]
  return {
    pages: pages.flatMap((page) => shownOn(page, incident)),
    channels: channels.filter(
      ({ state, events, serviceIds }) =>
        state === 'active' &&
        events.includes('incident.updated') &&
        (serviceIds === null || serviceIds.some((id) => incident.service_ids.includes(id))),
    ),
  }
}

function shownOn(
  page: StatusPage,
  { service_ids, auto_managed, display_id = '' }: Parameters<typeof audienceOf>[2],
): readonly ShownOn[] {
  const { isPublic, incidentsShown, sections, hiddenIncidents } = page
  if (!isPublic || incidentsShown === 'none' || (auto_managed && incidentsShown !== 'all')) return []
  const names = sections
    .flatMap(({ components }) => components)
    .filter(({ serviceId }) => service_ids.includes(serviceId))
    .map(({ name }) => name)
  return names.length === 0 ? [] : [{ page, names, isHidden: hiddenIncidents.includes(display_id) }]
}
