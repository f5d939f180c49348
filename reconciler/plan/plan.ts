import { type CanonicalService, canonicalResponse } from '../../api/contract/canonical.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { type Identity, identify } from './identity.ts'
import type { Blocked, Change, Plan, Prune } from './planValue.ts'
import { diffOfBound, diffOfFirst, isShrinking, type ServiceDiff } from './serviceDiff.ts'

/** Everything that a plan depends on. */
export interface PlanInput {
  readonly desired: readonly DesiredService[]
  /** Keys whose manifest is there but cannot be used. */
  readonly frozenKeys: readonly string[]
  readonly actual: readonly ServiceResponse[]
  /** Ids of services that exist but could not be understood. */
  readonly unreadableIds: readonly string[]
  readonly bindings: readonly Binding[]
  /** Keys of which a creation is not settled, with what to say about it. */
  readonly unsettled: readonly Blocked[]
  readonly hasState: boolean
}

/**
 * What has to happen so that the services are as the manifests say. Pure: the same input gives the same
 * plan, and nothing is read, written or logged.
 */
export function planChanges(input: PlanInput): Plan {
  const actual = new Map(input.actual.map((service) => [service.id, service]))
  const frozenKeys = new Set(input.frozenKeys)
  const unsettled = new Map(input.unsettled.map((blocked) => [blocked.key, blocked]))
  const identities = identify({ ...input, frozenKeys, actual })
  const planned = input.desired.map((desired): Change | null => {
    const waiting = unsettled.get(desired.key)
    // Naming the service settles which one it is.
    if (waiting !== undefined && desired.id === undefined) return waiting
    return changeOf(desired, identities.get(desired.key) ?? { kind: 'new' }, actual, input)
  })
  const kept = keptKeys(input, identities)
  const prunes = input.bindings.flatMap((binding) =>
    kept.has(binding.key) ? [] : (pruneOf(binding, actual, input.unreadableIds) ?? []),
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

/** Keys of bindings that still have a manifest, under their own or a new name. */
function keptKeys(input: PlanInput, identities: ReadonlyMap<string, Identity>): ReadonlySet<string> {
  const former = [...identities.values()].flatMap((one) => (one.kind === 'bound' ? one.binding.key : []))
  // While nobody decided which service a manifest means, none of those that it may mean goes.
  const announced = [...identities.values()].flatMap((one) =>
    one.kind === 'blocked' ? (one.claims ?? []) : [],
  )
  return new Set([
    ...input.desired.map((service) => service.key),
    ...input.frozenKeys,
    ...former,
    ...announced,
  ])
}

function changeOf(
  desired: DesiredService,
  identity: Identity,
  actual: ReadonlyMap<string, ServiceResponse>,
  input: PlanInput,
): Change | null {
  switch (identity.kind) {
    case 'blocked':
      return identity
    case 'new':
      return create(desired, null)
    case 'named': {
      const service = actual.get(identity.id)
      if (service === undefined) return create(desired, null)
      const diff = diffOfFirst(desired, service, input.hasState ? 'first-apply' : 'differs')
      return updateOf({ desired, service, diff, binding: null, renamedFrom: null }, input.hasState)
    }
    case 'bound':
      return changeOfBound(desired, identity, actual, input)
  }
}

function changeOfBound(
  desired: DesiredService,
  { binding, renamedFrom }: Extract<Identity, { kind: 'bound' }>,
  actual: ReadonlyMap<string, ServiceResponse>,
  input: PlanInput,
): Change | null {
  const service = actual.get(binding.serviceId)
  if (service !== undefined) {
    const diff = diffOfBound(desired, binding, service)
    return updateOf({ desired, service, diff, binding, renamedFrom }, input.hasState)
  }
  if (input.unreadableIds.includes(binding.serviceId)) {
    const message = `service ${binding.serviceId} has something that this version of pharos cannot read`
    return { kind: 'blocked', key: desired.key, message, hint: 'use a newer pharos', needsDecision: false }
  }
  if (desired.id !== undefined) {
    const message = `service ${desired.id} of metadata.id was deleted`
    const hint = 'remove metadata.id to have it created anew'
    return { kind: 'blocked', key: desired.key, message, hint, needsDecision: true }
  }
  return create(desired, binding.serviceId)
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

interface Comparison {
  readonly desired: DesiredService
  readonly service: ServiceResponse
  readonly diff: ServiceDiff
  readonly binding: Binding | null
  readonly renamedFrom: string | null
}

function updateOf(comparison: Comparison, hasState: boolean): Change | null {
  const { desired, service, diff, renamedFrom } = comparison
  const { key, policy } = desired
  const actual = canonicalResponse(service)
  const observed = observedOf(comparison, actual)
  const heals = policy.drift === 'heal'
  const pausing = diff.pausing?.reason === 'drift' && !heals ? null : diff.pausing
  const isDue = diff.wanted.length > 0 || (heals && diff.drifted.length > 0)
  const replace = isDue && !diff.alreadyThere
  if (!replace && pausing === null) {
    const drifted = diff.pausing === null ? diff.drifted : [...diff.drifted, diff.pausing]
    if (policy.drift === 'report' && drifted.length > 0)
      return { kind: 'drifted', key, id: service.id, fields: drifted }
    const isNews = isDue || renamedFrom !== null || policyChanged(comparison)
    return isNews && hasState ? { kind: 'record', key, id: service.id, renamedFrom, observed } : null
  }
  // A full replace resets what drifted as well, whatever the policy: the plan has to say so.
  const fields = [
    ...(replace ? [...diff.wanted, ...diff.drifted] : []),
    ...(pausing === null ? [] : [pausing]),
  ]
  return {
    kind: 'update',
    key,
    id: service.id,
    renamedFrom,
    fields,
    replace,
    pausing: pausing === null ? null : pausing.to === true ? 'pause' : 'resume',
    shrinks: replace && isShrinking(actual, desired.canonical),
    actual,
    observed,
  }
}

function observedOf({ diff, binding }: Comparison, actual: CanonicalService): CanonicalService {
  const keepsDrift = diff.drifted.length > 0 && !diff.alreadyThere
  return keepsDrift && binding?.observed != null ? binding.observed : actual
}

/** Whether the binding does not yet hold what the manifest says of the service's treatment. */
function policyChanged({ binding, desired }: Comparison): boolean {
  if (binding === null) return true
  return (
    binding.onDelete !== desired.policy.onDelete ||
    binding.protect !== desired.policy.protect ||
    binding.paused !== (desired.paused ?? null) ||
    binding.pruneAfterSecs !== desired.policy.pruneAfterSecs ||
    binding.desired === null ||
    binding.tombstonedAtMs !== null
  )
}

function pruneOf(
  binding: Binding,
  actual: ReadonlyMap<string, ServiceResponse>,
  unreadableIds: readonly string[],
): Change | null {
  const service = actual.get(binding.serviceId)
  const isThere = service !== undefined || unreadableIds.includes(binding.serviceId)
  const { key, serviceId: id } = binding
  const prune: Prune = {
    kind: 'prune',
    key,
    id,
    how: isThere ? binding.onDelete : 'forget',
    name: service?.name ?? binding.desired?.name ?? key,
    createdAt: service?.created_at ?? null,
  }
  if (!isThere) return prune
  if (binding.tombstonedAtMs !== null) return null
  if (binding.protect && binding.onDelete !== 'detach') {
    const message = `its manifest is gone, but policy.protect keeps service ${id}`
    const hint = 'put the manifest back with protect: false, apply, then remove it'
    return { kind: 'blocked', key, message, hint, needsDecision: false }
  }
  return prune
}

/** Coverage is never reduced before its replacement exists; what makes room under a plan's limits goes first. Pure. */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  return [...changes].sort((a, b) => phaseOf(a) - phaseOf(b) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** Number of the phase in which `change` is carried out; changes of one phase may overlap. Pure. */
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
