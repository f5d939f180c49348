import { timestamp } from '../../domain/environment.ts'
import type { Store } from '../store.ts'

/** The start of the maintenance of each service that is in maintenance at `nowMs`: of overlapping windows, the first. */
export async function currentMaintenance(
  store: Pick<Store, 'listMaintenance'>,
  orgId: string,
  nowMs: number,
): Promise<ReadonlyMap<string, string>> {
  const now = timestamp(nowMs)
  const windows = await store.listMaintenance(orgId, { endsAfter: now })
  return new Map(
    windows
      .filter(({ startsAt }) => startsAt <= now)
      .toReversed()
      .flatMap(({ serviceIds, startsAt }) => serviceIds.map((id) => [id, startsAt] as const)),
  )
}
