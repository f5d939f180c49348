import type { CanonicalService } from '../../api/contract/canonical.ts'
import { valueAtPointer } from '../../api/contract/problem.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { loopingPointers } from './healLoop.ts'
import type { Blocked, Change, Drifted, PlannedField, Record } from './planValue.ts'
import { isSealed, isShrinking, type ServiceDiff } from './serviceDiff.ts'

/** A manifest, the service that it has, and how they differ. */
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

/** What has to happen to the service of `comparison`; null when nothing has to. Pure. */
export function updateOf(comparison: Comparison, input: UpdateInput): Change | null {
  const { desired, service, diff, renamedFrom } = comparison
  const looping = loopingIn(comparison, input.nowMs)
  const heals = desired.policy.drift === 'heal' && looping.length === 0
  const pausing = diff.pausing?.reason === 'drift' && !heals ? null : diff.pausing
  const isDue = diff.wanted.length > 0 || (heals && diff.drifted.length > 0)
  const replace = isDue && !diff.alreadyThere
  if (!replace && pausing === null) return unsent(comparison, isDue, looping, input)
  const blocked = replace ? conflictOf(comparison) : null
  if (blocked !== null) return blocked
  // A full replace resets what drifted as well: the plan has to say so.
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
    keeps: replace ? diff.left : [],
    pausing: pausing === null ? null : pausing.to === true ? 'pause' : 'resume',
    shrinks: replace && isShrinking(diff.live, desired.canonical),
    actual: diff.live,
    observed: observedOf(comparison),
  }
}

function outsideOf({ shown, pausing }: ServiceDiff): readonly PlannedField[] {
  return pausing?.reason === 'drift' ? [...shown.outside, pausing] : shown.outside
}

/** What is to be shown or remembered where no request is due. */
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
  const isNews = isDue || renamedFrom !== null || policyChanged(comparison)
  if (!isNews || !hasState) return null
  return { kind: 'record', key, id: service.id, renamedFrom, observed: observedOf(comparison) }
}

/** Pointers of the drift that were put back too often to be put back once more. */
function loopingIn({ diff, binding }: Comparison, nowMs: number): readonly string[] {
  const looping = loopingPointers(binding?.heals ?? [], nowMs)
  const drifted = diff.pausing?.reason === 'drift' ? [...diff.drifted, diff.pausing] : diff.drifted
  return drifted.map(({ pointer }) => pointer).filter((pointer) => looping.has(pointer))
}

/** Why the definition may not be sent although the manifest changed; null when it may. */
function conflictOf({ desired, service, diff }: Comparison): Blocked | null {
  const secret = diff.left.find((pointer) => holdsSecret(valueAtPointer(diff.live, pointer)))
  if (secret === undefined) return null
  return {
    kind: 'blocked',
    key: desired.key,
    message: `the manual change at ${secret} holds a secret, which the API does not show: it cannot be kept`,
    hint: 'undo it, or do not leave that field to others',
    needsDecision: true,
    drift: { id: service.id, fields: diff.shown.outside },
  }
}

function holdsSecret(value: unknown): boolean {
  if (isSealed(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSecret)
}

function observedOf({ diff, binding }: Comparison): CanonicalService {
  const keepsDrift = diff.drifted.length > 0 && !diff.alreadyThere
  return keepsDrift && binding?.observed != null ? binding.observed : diff.live
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
