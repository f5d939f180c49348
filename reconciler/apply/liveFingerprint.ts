import type { Change } from '../plan/planValue.ts'
import type { PlanResult } from './planResult.ts'

/** The services that there are, and which of them are ours. */
export type Live = Pick<PlanResult, 'services' | 'bindings'>

/** The service that `change` is about as text, or for a creation the unmanaged services of its name. */
export function liveFingerprint(change: Change, { services, bindings }: Live): string {
  if (change.kind === 'create') {
    const managed = new Set([...bindings.values()].map(({ serviceId }) => serviceId))
    const twins = services.filter(({ id, name }) => name === change.desired.name && !managed.has(id))
    return JSON.stringify(twins.map(({ id }) => id).sort())
  }
  if (!('id' in change)) return ''
  return JSON.stringify(services.find(({ id }) => id === change.id) ?? null)
}
