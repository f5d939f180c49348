import type { ServicePolicy, ServiceSet } from '../../manifest/compile/declaredService.ts'
import type { SetConfig } from '../config/controllerSchema.ts'

/** `set` with the policies of its services limited by the configuration. Pure. */
export function withSetPolicy(
  set: ServiceSet,
  config: Pick<SetConfig, 'drift' | 'prune' | 'pruneAfter'>,
): ServiceSet {
  return {
    ...set,
    services: set.services.map((service) => ({ ...service, policy: limited(service.policy, config) })),
  }
}

function limited(
  policy: ServicePolicy,
  { drift, prune, pruneAfter }: Pick<SetConfig, 'drift' | 'prune' | 'pruneAfter'>,
): ServicePolicy {
  const isGentle = prune === 'pause-then-delete' && policy.onDelete === 'delete'
  return {
    ...policy,
    drift: driftWithin(policy.drift, drift),
    // No user reviews the plan of a controller, so a removal by mistake can be reverted for a while.
    ...(isGentle ? { onDelete: 'pause', pruneAfterSecs: Math.ceil(pruneAfter / 1_000) } : {}),
  }
}

function driftWithin(wanted: ServicePolicy['drift'], most: SetConfig['drift']): ServicePolicy['drift'] {
  return most === 'heal' || wanted === 'ignore' ? wanted : most
}
