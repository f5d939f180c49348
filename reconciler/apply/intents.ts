import type { Change } from '../plan/planValue.ts'
import type { Intent } from '../state/model/store.ts'
import type { PlanResult } from './planResult.ts'

/** One request of a change, without an operation id. */
export type Step = Pick<Intent, 'kind' | 'key' | 'serviceId' | 'create'>

/** The requests of `change`, in order. Pure. */
export function intentsOf(change: Change, planResult: PlanResult): readonly Step[] {
  const { key } = change
  switch (change.kind) {
    case 'create': {
      const desired = planResult.desired.get(key)
      if (desired === undefined) return []
      const name = change.desired.name
      const preIds = planResult.services.filter((service) => service.name === name).map(({ id }) => id)
      const { onDelete, protect, pruneAfterSecs } = desired.policy
      const policy = { onDelete, protect, pruneAfterSecs }
      const create: Step = {
        kind: 'create',
        key,
        serviceId: null,
        create: { sent: change.desired, preIds, policy },
      }
      return change.paused ? [create, { kind: 'pause', key, serviceId: null, create: null }] : [create]
    }
    case 'update': {
      const step = (kind: Step['kind']): Step => ({ kind, key, serviceId: change.id, create: null })
      const replace = change.replace ? [step('replace')] : []
      if (change.pausing === null) return replace
      return change.pausing === 'pause' ? [step('pause'), ...replace] : [...replace, step('resume')]
    }
    case 'prune':
      return change.how === 'delete' || change.how === 'pause'
        ? [{ kind: change.how, key, serviceId: change.id, create: null }]
        : []
    case 'record':
    case 'drifted':
    case 'blocked':
      return []
  }
}

/** A name that is unique among the steps of one plan. Pure. */
export function stepName({ key, kind }: Pick<Step, 'key' | 'kind'>): string {
  return `${kind} ${key}`
}
