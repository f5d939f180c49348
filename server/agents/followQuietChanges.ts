import type { Results } from '../results/threads/results.ts'
import type { MonitoringStore } from '../store/monitoringStore.ts'
import type { MonitoredServices } from './monitoredServices.ts'

/** Most services whose changes are sent to the results at once. */
const CHANGES_MAX = 500

/** What quiet changes are followed with. */
interface QuietChangeParts {
  readonly store: Pick<MonitoringStore, 'quietChanges'>
  readonly services: Pick<MonitoredServices, 'readSome'>
  readonly results: Pick<Results, 'update'>
}

/**
 * A function that sends the results what changed behind `after`, and since its last call, without a command to a region: another
 * process may have switched automatic incidents on. Rejects when it cannot be read; the next call takes it up.
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
