import { createService } from '../domain/serviceChanges.ts'
import { monotonicMs, systemEnvironment } from '../process/systemEnvironment.ts'
import type { CreationFingerprint, Store } from '../store/store.ts'
import { serviceBody } from './serviceBodies.ts'

/** Clocks of a store whose data has no age. */
export const TIMELESS = { nowMs: () => 0, monotonicMs }

/** With what services are made in a store: nothing of them is blocked, and none has a secret. */
export const MAKING = {
  ...systemEnvironment,
  nowMs: 0,
  isBlocked: () => false,
  seal: () => {
    throw new Error('the body has no secret')
  },
}

/** Makes an organisation; its id. */
export async function storeOrg(store: Store, servicesMax?: number): Promise<string> {
  const id = systemEnvironment.uuid()
  await store.createOrg({ id, name: 'Acme', plan: 'business', nowMs: 0 })
  if (servicesMax !== undefined) await store.overrideLimits(id, { servicesMax })
  return id
}

/** Makes a service of `name`, once for each `fingerprint`. */
export function storeService(
  store: Store,
  orgId: string,
  { fingerprint, name = 'Checkout' }: { fingerprint?: CreationFingerprint; name?: string } = {},
) {
  return store.createService(orgId, fingerprint, ({ standing }) =>
    createService(serviceBody({ name }), { ...MAKING, standing }),
  )
}
