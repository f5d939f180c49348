import { createService } from '../domain/serviceChanges.ts'
import { monotonicMs, systemEnvironment } from '../process/systemEnvironment.ts'
import type { CreationFingerprint, Store } from '../store/store.ts'
import { serviceBody } from './serviceBodies.ts'

/** Clocks for a store whose data does not age. */
export const STOPPED_CLOCKS = { nowMs: () => 0, monotonicMs }

/** Dependencies for creating services in a store. No URL is blocked, and no service may have a secret. */
export const SERVICE_DEPS = {
  ...systemEnvironment,
  nowMs: 0,
  isBlocked: () => false,
  seal: () => {
    throw new Error('the body has no secret')
  },
}

/** Creates an organisation. Resolves with its id. */
export async function storeOrg(store: Store, servicesMax?: number): Promise<string> {
  const id = systemEnvironment.uuid()
  await store.createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
  if (servicesMax !== undefined) await store.overrideLimits(id, { servicesMax })
  return id
}

/** Creates a service called `name`, once for each `fingerprint`. */
export function storeService(
  store: Store,
  orgId: string,
  { fingerprint, name = 'Checkout' }: { fingerprint?: CreationFingerprint; name?: string } = {},
) {
  return store.createService(orgId, fingerprint, ({ quota }) =>
    createService(serviceBody({ name }), { ...SERVICE_DEPS, quota }),
  )
}
