import type { Applied } from '../apply/applySet.ts'
import type { ChangeOutcome } from '../apply/outcome.ts'
import { type Drift, driftOf } from '../plan/drift.ts'
import type { Change, PlannedField } from '../plan/planValue.ts'
import type { ServiceState, ServiceStatus } from './status.ts'

/** Where each service stands after `applied`, by name; `frozenKeys` are those whose manifests cannot be used. Pure. */
export function servicesOf(applied: Applied, frozenKeys: readonly string[]): readonly ServiceStatus[] {
  const { plan, braked } = applied.situation
  const ids = idsOf(applied)
  const outcomes = new Map(applied.outcomes.map((outcome) => [outcome.change.key, outcome]))
  const withheld = new Set(braked.withheld.map(({ key }) => key))
  const brakeOf = new Map(braked.tripped.flatMap((brake) => brake.keys.map((key) => [key, brake] as const)))
  const blocked = new Map(applied.blocked.map((one) => [one.key, one]))
  const all = new Map<string, ServiceStatus>()
  const put = (
    key: string,
    state: ServiceState,
    message = '',
    todo: string | null = null,
    fields: readonly PlannedField[] = [],
  ): void => {
    all.set(key, { key, serviceId: ids.get(key) ?? null, state, message, todo, fields })
  }
  for (const key of plan.unchanged) put(key, 'Synced')
  for (const key of frozenKeys)
    put(key, 'Blocked', 'its manifest cannot be used', 'see the problems of the set')
  for (const change of plan.changes) {
    const { key } = change
    const stop = blocked.get(key)
    if (stop !== undefined || change.kind === 'blocked') {
      put(key, 'Blocked', stop?.message ?? '', stop?.hint ?? null)
    } else if (change.kind === 'drifted') {
      put(
        key,
        'Drifted',
        'it was changed outside, and its policy is to report that',
        'change the manifest, or put it back',
        change.fields,
      )
    } else if (withheld.has(key)) {
      const brake = brakeOf.get(key)
      const isSuspended = brake?.brake === 'suspended'
      put(
        key,
        isSuspended ? 'Suspended' : stateOfWaiting(change),
        brake?.message ?? '',
        null,
        fieldsOf(change),
      )
    } else {
      putOutcome(change, outcomes.get(key), put)
    }
  }
  return [...all.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

type Put = (
  key: string,
  state: ServiceState,
  message?: string,
  todo?: string | null,
  fields?: readonly PlannedField[],
) => void

function putOutcome(change: Change, outcome: ChangeOutcome | undefined, put: Put): void {
  const { key } = change
  if (outcome === undefined || outcome.result === 'skipped') {
    put(key, stateOfWaiting(change), outcome?.message ?? 'not yet carried out', null, fieldsOf(change))
  } else if (outcome.result !== 'done') {
    const todo = outcome.result === 'limited' ? 'make room in the plan of the organisation' : null
    put(key, outcome.result === 'lost' ? 'Pending' : 'Failed', outcome.message, todo, fieldsOf(change))
  } else if (change.kind !== 'prune') {
    put(key, 'Synced')
  } else if (change.how === 'pause') {
    put(key, 'Removing', 'paused, because its manifest is gone')
  }
}

function stateOfWaiting(change: Change): ServiceState {
  const isDrift = change.kind === 'update' && change.fields.every(({ reason }) => reason === 'drift')
  return isDrift ? 'Drifted' : 'Pending'
}

function fieldsOf(change: Change): readonly PlannedField[] {
  return change.kind === 'update' || change.kind === 'drifted' ? change.fields : []
}

function idsOf({ situation, outcomes }: Applied): ReadonlyMap<string, string> {
  const ids = new Map([...situation.bindings.values()].map(({ key, serviceId }) => [key, serviceId]))
  for (const change of situation.plan.changes) if ('id' in change) ids.set(change.key, change.id)
  for (const { change, serviceId } of outcomes) if (serviceId !== null) ids.set(change.key, serviceId)
  return ids
}

/** What was changed outside and put back in this run, and what was left. Pure. */
export function driftsOf({ situation, outcomes }: Applied): {
  readonly healed: readonly Drift[]
  readonly left: readonly Drift[]
} {
  const done = new Set(outcomes.filter(({ result }) => result === 'done').map(({ change }) => change.key))
  const drifts = driftOf(situation.plan)
  return {
    healed: drifts.filter(({ key }) => done.has(key)),
    left: drifts.filter(({ key }) => !done.has(key)),
  }
}
