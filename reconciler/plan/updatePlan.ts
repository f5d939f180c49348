import type { CanonicalService } from '../../api/contract/canonical.ts'
import { valueAtPointer } from '../../api/contract/problem.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { loopingPointers } from './healLoop.ts'
import {
  type Blocked,
  blocked,
  type Change,
  type Drifted,
  type PlannedField,
  type Record,
} from './planValue.ts'
import { isSealed, isShrinking, type ServiceDiff } from './serviceDiff.ts'

/** A manifest, its service, and their difference. */
export interface Comparison {
  readonly desired: DesiredService
  readonly service: ServiceResponse
  readonly diff: ServiceDiff
  readonly binding: Binding | null
  readonly renamedFrom: string | null
}

interface UpdateInput {
  readonly hasState: boolean
  readonly nowMs: number
}

/** The change for the service of `comparison`; null for none. Pure. */
export function updateOf(comparison: Comparison, input: UpdateInput): Change | null {
  const { desired, service, diff, renamedFrom } = comparison
  const looping = loopingIn(comparison, input.nowMs)
  const heals = desired.policy.drift === 'heal' && looping.length === 0
  const pausing = diff.pausing?.reason === 'drift' && !heals ? null : diff.pausing
  const isDue = diff.wanted.length > 0 || (heals && diff.drifted.length > 0)
  const replace = isDue && !diff.matchesManifest
  if (!replace && pausing === null) return unsent(comparison, isDue, looping, input)
  const conflict = replace ? conflictOf(comparison) : null
  if (conflict !== null) return conflict
  // A full replace reverts manual changes as well: the plan has to show them.
  const fieldsOf = ({
    wanted,
    drifted,
  }: Pick<ServiceDiff, 'wanted' | 'drifted'>): readonly PlannedField[] => [
    ...(replace ? [...wanted, ...drifted] : []),
    ...(pausing === null ? [] : [pausing]),
  ]
  return {
    kind: 'update',
    key: desired.key,
    id: service.id,
    renamedFrom,
    fields: fieldsOf(diff),
    shown: fieldsOf(diff.shown),
    outside: desired.policy.drift === 'ignore' ? [] : outsideOf(diff),
    replace,
    keeps: replace ? diff.ignored : [],
    pausing: pausing === null ? null : pausing.to === true ? 'pause' : 'resume',
    shrinks: replace && isShrinking(diff.live, desired.canonical),
    actual: diff.live,
    observed: observedOf(comparison),
  }
}

function outsideOf({ shown, pausing }: ServiceDiff): readonly PlannedField[] {
  return pausing?.reason === 'drift' ? [...shown.outside, pausing] : shown.outside
}

/** The change that reports drift or writes a binding without a request; null for neither. */
function unsent(
  comparison: Comparison,
  isDue: boolean,
  looping: readonly string[],
  { hasState }: UpdateInput,
): Drifted | Record | null {
  const { desired, service, diff, renamedFrom } = comparison
  const { key, policy } = desired
  const withPausing = (drifted: readonly PlannedField[]): readonly PlannedField[] =>
    diff.pausing === null ? drifted : [...drifted, diff.pausing]
  const fields = withPausing(diff.drifted)
  if (policy.drift !== 'ignore' && fields.length > 0) {
    const shown = withPausing(diff.shown.drifted)
    return { kind: 'drifted', key, id: service.id, fields, shown, looping }
  }
  const hasChanges = isDue || renamedFrom !== null || policyChanged(comparison)
  if (!hasChanges || !hasState) return null
  return { kind: 'record', key, id: service.id, renamedFrom, observed: observedOf(comparison) }
}

/** Pointers of the drift that were reverted too often to revert them again. */
function loopingIn({ diff, binding }: Comparison, nowMs: number): readonly string[] {
  const looping = loopingPointers(binding?.heals ?? [], nowMs)
  const drifted = diff.pausing?.reason === 'drift' ? [...diff.drifted, diff.pausing] : diff.drifted
  return drifted.map(({ pointer }) => pointer).filter((pointer) => looping.has(pointer))
}

/** Why the changed definition must not be sent; null when it may. */
function conflictOf({ desired, service, diff }: Comparison): Blocked | null {
  const secret = diff.ignored.find((pointer) => holdsSecret(valueAtPointer(diff.live, pointer)))
  if (secret === undefined) return null
  const message = `the manual change at ${secret} contains a secret, which the API does not show: the change cannot be preserved`
  return blocked(desired.key, message, 'undo it, or remove the field from policy.ignore', {
    drift: { id: service.id, fields: diff.shown.outside },
  })
}

function holdsSecret(value: unknown): boolean {
  if (isSealed(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSecret)
}

function observedOf({ diff, binding }: Comparison): CanonicalService {
  const keepsDrift = diff.drifted.length > 0 && !diff.matchesManifest
  return keepsDrift && binding?.observed != null ? binding.observed : diff.live
}

/** Whether the policy in the manifest differs from the one in the binding. */
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
