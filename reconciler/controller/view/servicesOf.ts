import type { Applied } from '../../apply/applySet.ts'
import type { ChangeOutcome } from '../../apply/outcome.ts'
import { type Drift, driftOf } from '../../plan/drift.ts'
import type { Change, PlannedField } from '../../plan/planValue.ts'
import type { ServiceReason, ServiceState, ServiceStatus } from '../status/status.ts'

/** The status of each service after `applied`, by name; `frozenKeys` are those with invalid manifests. Pure. */
export function servicesOf(applied: Applied, frozenKeys: readonly string[]): readonly ServiceStatus[] {
  const { plan, limited, declared } = applied.planResult
  const ids = idsOf(applied)
  const outcomes = new Map(applied.outcomes.map((outcome) => [outcome.change.key, outcome]))
  const withheld = new Set(limited.withheld.map(({ key }) => key))
  // Of several safety limits that block a change, the first one is shown.
  const limitOf = new Map(
    limited.tripped.toReversed().flatMap((limit) => limit.keys.map((key) => [key, limit] as const)),
  )
  const blocked = new Map(applied.blocked.map((one) => [one.key, one]))
  const all = new Map<string, ServiceStatus>()
  const put: Put = (key, state, why = {}) => {
    const { reason = null, message = '', todo = null, fields = [] } = why
    const manifest = declared.get(key)?.file ?? null
    all.set(key, { key, serviceId: ids.get(key) ?? null, manifest, state, reason, message, todo, fields })
  }
  for (const key of plan.unchanged) put(key, 'Synced')
  for (const key of frozenKeys) put(key, 'Blocked', FROZEN)
  for (const change of plan.changes) {
    const { key } = change
    const stop = blocked.get(key)
    if (stop !== undefined || change.kind === 'blocked') {
      put(key, 'Blocked', {
        reason: stop?.needsDecision === true ? 'needsDecision' : 'cannotPlan',
        message: stop?.message ?? '',
        todo: stop?.hint ?? null,
      })
    } else if (change.kind === 'drifted') {
      const isLooping = change.looping.length > 0
      put(key, 'Drifted', { ...(isLooping ? LOOPING : REPORTED), fields: change.shown })
    } else if (withheld.has(key)) {
      const limit = limitOf.get(key)
      put(key, limit?.brake === 'suspended' ? 'Suspended' : stateOfWaiting(change), {
        reason: limit?.brake ?? null,
        message: limit?.message ?? '',
        fields: fieldsOf(change),
      })
    } else {
      putOutcome(change, outcomes.get(key), put)
    }
  }
  return [...all.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

type Why = Partial<Pick<ServiceStatus, 'reason' | 'message' | 'todo' | 'fields'>>
type Put = (key: string, state: ServiceState, why?: Why) => void

const FROZEN: Why = {
  reason: 'manifestInvalid',
  message: 'its manifest or its Defaults have problems',
  todo: 'see the problems of the set',
}
const REPORTED: Why = {
  reason: 'driftPolicy',
  message: 'changed outside git; its policy is drift: report',
  todo: 'change the manifest, or undo the change',
}
const LOOPING: Why = {
  reason: 'healLoop',
  message: 'its manual changes were reverted repeatedly and are no longer reverted',
  todo: 'find the other writer',
}

/** Reasons for results other than done. */
const OF_RESULT: Readonly<Record<Exclude<ChangeOutcome['result'], 'done'>, ServiceReason>> = {
  failed: 'failed',
  limited: 'planLimit',
  lost: 'unknownOutcome',
  skipped: 'notYet',
  stale: 'changedMeanwhile',
}

function putOutcome(change: Change, outcome: ChangeOutcome | undefined, put: Put): void {
  const { key } = change
  const result = outcome?.result ?? 'skipped'
  if (result === 'done') {
    if (change.kind !== 'prune') put(key, 'Synced')
    else if (change.how === 'pause') put(key, 'Removing', GONE)
    return
  }
  const isOver = result === 'failed' || result === 'limited' || result === 'stale'
  put(key, isOver ? 'Failed' : result === 'lost' ? 'Pending' : stateOfWaiting(change), {
    reason: OF_RESULT[result],
    message: outcome?.message ?? 'not applied yet',
    todo: result === 'limited' ? 'remove or pause other services, or get a larger plan' : null,
    fields: fieldsOf(change),
  })
}

const GONE: Why = { reason: 'manifestGone', message: 'paused, because its manifest was removed' }

function stateOfWaiting(change: Change): ServiceState {
  const isDrift = change.kind === 'update' && change.fields.every(({ reason }) => reason === 'drift')
  return isDrift ? 'Drifted' : 'Pending'
}

function fieldsOf(change: Change): readonly PlannedField[] {
  return change.kind === 'update' || change.kind === 'drifted' ? change.shown : []
}

function idsOf({ planResult, outcomes }: Applied): ReadonlyMap<string, string> {
  const ids = new Map([...planResult.bindings.values()].map(({ key, serviceId }) => [key, serviceId]))
  for (const change of planResult.plan.changes) if ('id' in change) ids.set(change.key, change.id)
  for (const { change, serviceId } of outcomes) if (serviceId !== null) ids.set(change.key, serviceId)
  return ids
}

/** The manual changes that this run reverted, and those that it left. Pure. */
export function driftsOf({ planResult, outcomes }: Applied): {
  readonly healed: readonly Drift[]
  readonly left: readonly Drift[]
} {
  const done = new Set(outcomes.filter(({ result }) => result === 'done').map(({ change }) => change.key))
  const drifts = driftOf(planResult.plan)
  return {
    healed: drifts.filter(({ key }) => done.has(key)),
    left: drifts.filter(({ key }) => !done.has(key)),
  }
}
