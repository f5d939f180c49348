import type { Results } from '../results/threads/results.ts'
import type { MonitoringStore } from '../store/monitoringStore.ts'
import type { MonitoredServices } from './monitoredServices.ts'

/** Maximum number of services per update of the results thread. */
const CHANGES_MAX = 500

/** Dependencies of the follower. */
interface QuietChangeParts {
  readonly store: Pick<MonitoringStore, 'quietChanges'>
  readonly services: Pick<MonitoredServices, 'readSome'>
  readonly results: Pick<Results, 'update'>
}

/**
 * A function that sends the results thread all changes without a command since its last call, or after `after`: another
 * process may have switched automatic incidents on. Rejects when changes cannot be read; the next call retries.
 */
export function quietChangeFollower(
  { store, services, results }: QuietChangeParts,
  after: number,
): () => Promise<void> {
  let sent = after
  return async () => {
    const changed = await store.quietChanges(sent, CHANGES_MAX)
    const newest = changed.at(-1)
    if (newest === undefined) return
    await results.update(() => services.readSome(changed.map(({ serviceId }) => serviceId)))
    sent = newest.sequence
  }
}
