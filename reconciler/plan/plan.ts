import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { blockedBySameName, type IdentifiedService, type Identity, identifyServices } from './identity.ts'
import { compareNames } from './naturalOrder.ts'
import { type Blocked, blocked, type Change, type Plan } from './planValue.ts'
import { pruneOf } from './prunePlan.ts'
import { diffOfBound, diffOfFirst } from './serviceDiff.ts'
import { updateOf } from './updatePlan.ts'

/** All inputs of a plan. */
export interface PlanFacts {
  readonly desired: readonly DesiredService[]
  /** Keys whose manifest exists but is invalid. */
  readonly frozenKeys: readonly string[]
  readonly actual: readonly ServiceResponse[]
  /** Ids of services that exist but cannot be parsed. */
  readonly unreadableIds: readonly string[]
  readonly bindings: readonly Binding[]
  /** Keys with an open creation, each with its message. */
  readonly unsettled: readonly Blocked[]
  readonly hasState: boolean
  /** Whether no manifest has a problem. */
  readonly isValid: boolean
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/**
 * Plans the changes that make the services match the manifests. Pure: the same input gives the same plan, and nothing is
 * read, written or logged.
 */
export function planChanges(input: PlanFacts): Plan {
  const actual = new Map(input.actual.map((service) => [service.id, service]))
  const frozenKeys = new Set(input.frozenKeys)
  const unsettled = new Map(input.unsettled.map((one) => [one.key, one]))
  const identified = identifyServices({ ...input, frozenKeys, actual })
  const planned = identified.map(({ service: desired, identity }): Change | null => {
    const waiting = unsettled.get(desired.key)
    // metadata.id identifies the service despite an open creation.
    if (waiting !== undefined && desired.id === undefined) return waiting
    return changeOf(desired, identity, actual, input)
  })
  const kept = keptKeys(input, identified)
  const prunes = input.bindings.flatMap((binding) =>
    kept.has(binding.key) ? [] : (pruneOf(binding, actual, input) ?? []),
  )
  const changes = [...planned.filter((change) => change !== null), ...prunes]
  const changed = new Set(changes.map((change) => change.key))
  return {
    changes: inOrder(changes),
    unchanged: input.desired.map((service) => service.key).filter((key) => !changed.has(key)),
    owned: input.bindings.length,
    kept: input.bindings.filter((binding) => kept.has(binding.key)).length,
  }
}

/** Keys of the bindings that still have a manifest, under their own or a new name. */
function keptKeys(input: PlanFacts, identified: readonly IdentifiedService[]): ReadonlySet<string> {
  // Until the identity of a manifest is decided, none of its candidates is removed.
  const claimed = identified.flatMap(({ identity }) => {
    if (identity.kind === 'bound') return [identity.binding.key]
    return identity.kind === 'blocked' ? (identity.claims ?? []) : []
  })
  return new Set([...input.desired.map((service) => service.key), ...input.frozenKeys, ...claimed])
}

function changeOf(
  desired: DesiredService,
  identity: Identity,
  actual: ReadonlyMap<string, ServiceResponse>,
  input: PlanFacts,
): Change | null {
  switch (identity.kind) {
    case 'blocked':
      return identity
    case 'new':
      return create(desired, null)
    case 'named': {
      const { service } = identity
      const diff = diffOfFirst(desired, service, input.hasState ? 'first-apply' : 'differs')
      return updateOf({ desired, service, diff, binding: null, renamedFrom: null }, input)
    }
    case 'bound':
      return changeOfBound(desired, identity, actual, input)
  }
}

function changeOfBound(
  desired: DesiredService,
  { binding, renamedFrom }: Extract<Identity, { kind: 'bound' }>,
  actual: ReadonlyMap<string, ServiceResponse>,
  input: PlanFacts,
): Change | null {
  const service = actual.get(binding.serviceId)
  if (service !== undefined) {
    const diff = diffOfBound(desired, binding, service)
    return updateOf({ desired, service, diff, binding, renamedFrom }, input)
  }
  if (input.unreadableIds.includes(binding.serviceId)) {
    const message = `service ${binding.serviceId} has content that this version of pharos cannot read`
    return blocked(desired.key, message, 'use a newer pharos', { needsDecision: false })
  }
  if (desired.id !== undefined) {
    const message = `service ${desired.id} of metadata.id was deleted`
    return blocked(desired.key, message, 'remove metadata.id to create it again', { lost: desired.id })
  }
  // A replacement created by hand, or a lost creation that was then changed.
  const bound = new Set(input.bindings.map(({ serviceId }) => serviceId))
  const twins = input.actual.filter(({ id, name }) => name === desired.canonical.name && !bound.has(id))
  return blockedBySameName(desired, twins, binding.serviceId) ?? create(desired, binding.serviceId)
}

function create(desired: DesiredService, replacesLost: string | null): Change {
  return {
    kind: 'create',
    key: desired.key,
    desired: desired.canonical,
    paused: desired.paused === true,
    replacesLost,
  }
}

/** Sorts changes so that coverage shrinks only after its replacement exists, and updates that free quota come first. Pure. */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  return [...changes].sort((a, b) => phaseOf(a) - phaseOf(b) || compareNames(a.key, b.key))
}

/** The phase in which `change` is executed; changes of one phase may overlap. Pure. */
export function phaseOf(change: Change): number {
  switch (change.kind) {
    case 'record':
      return 0
    case 'update':
      if (!change.replace) return change.pausing === 'resume' ? 4 : 5
      return change.shrinks ? 1 : 2
    case 'create':
      return 3
    case 'prune':
      return 6
    case 'drifted':
    case 'blocked':
      return 7
  }
}
