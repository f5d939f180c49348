import type { ServiceResponse } from '../../../api/contract/service.ts'
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
