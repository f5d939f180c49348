import type { ServiceResponse } from '../../../api/contract/service.ts'
import { timestamp } from '../../domain/environment.ts'
import type { Store } from '../store.ts'
import { orgNotFound } from './orgNotFound.ts'

/** Rejects when there is no organisation `orgId`. */
export async function assertOrg(store: Pick<Store, 'listOrgs'>, orgId: string): Promise<void> {
  const orgs = await store.listOrgs()
  if (!orgs.some(({ id }) => id === orgId)) throw orgNotFound(orgId)
}

/** The services of an organisation. Rejects when there is no such organisation. */
export async function servicesOf(store: Store, orgId: string): Promise<readonly ServiceResponse[]> {
  await assertOrg(store, orgId)
  // True because only rendered ServiceResponses are stored.
  return (await store.listServices(orgId)).map(({ text }) => JSON.parse(text) as ServiceResponse)
}

/**
 * The start of the maintenance of each service that is in maintenance at `nowMs`: of overlapping windows, the first.
 */
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
