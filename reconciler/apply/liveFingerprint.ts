import type { Change } from '../plan/planValue.ts'
import type { PlanResult } from './planResult.ts'

/** The existing services and the bindings of the owned ones. */
export type Live = Pick<PlanResult, 'services' | 'bindings'>

/** The service of `change` as text, or for a creation the ids of unmanaged services with its name. */
export function liveFingerprint(change: Change, { services, bindings }: Live): string {
  if (change.kind === 'create') {
    const managed = new Set([...bindings.values()].map(({ serviceId }) => serviceId))
    const twins = services.filter(({ id, name }) => name === change.desired.name && !managed.has(id))
    return JSON.stringify(twins.map(({ id }) => id).sort())
  }
  if (!('id' in change)) return ''
  return JSON.stringify(services.find(({ id }) => id === change.id) ?? null)
}
