import { sameJson } from '../../api/contract/fieldChange.ts'
import type { OpenCreate } from '../plan/createResolution.ts'
import type { Change } from '../plan/planValue.ts'
import type { Intent } from '../state/model/record.ts'
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

/**
 * The intent of `step` with an operation id. A creation that was lost keeps its id, with which the server executes only one of
 * its attempts (Gap G42), and any of their definitions may be the one that took effect.
 */
export function intended(
  step: Step,
  lost: ReadonlyMap<string, OpenCreate>,
  newId: () => string,
): Step & Pick<Intent, 'opId'> {
  const { create, key } = step
  const before = create === null ? undefined : lost.get(key)
  if (create === null || before === undefined) return { ...step, opId: newId() }
  const earlier = [...before.earlier, before.sent].filter((one) => !sameJson(one, create.sent))
  const preIds = [...new Set([...before.preIds, ...create.preIds])]
  return { ...step, opId: before.opId, create: { ...create, earlier, preIds } }
}

/** A name that is unique among the steps of one plan. Pure. */
export function stepName({ key, kind }: Pick<Step, 'key' | 'kind'>): string {
  return `${kind} ${key}`
}
