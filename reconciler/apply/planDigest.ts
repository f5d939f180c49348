import { createHash } from 'node:crypto'
import { UNKNOWN_FINGERPRINT } from '../../api/contract/canonical.ts'
import type { Change } from '../plan/planValue.ts'
import { EXIT } from '../run/exitCode.ts'
import { ExpectedFailure } from '../run/failure.ts'
import { liveFingerprint } from './liveFingerprint.ts'
import type { PlanResult } from './planResult.ts'

/** The organisation and source of a plan: with another one the same changes have another digest. */
export interface PlanHome {
  readonly orgId: string
  readonly sourceName: string
  /** Whether fingerprints of secrets are the same in the next run: an apply has used this state, and its key is available. */
  readonly hasLastingFingerprints: boolean
}

/** Throws PlanChanged unless the digest `reviewed` equals the current `digest`. Pure. */
export function requireReviewedPlan(reviewed: string, digest: string | null): void {
  if (reviewed === digest) return
  const current = digest === null ? 'the current plan has no digest' : `the current plan has digest ${digest}`
  throw new PlanChanged(
    `${current}, the reviewed one ${reviewed}: a manifest, a secret or a service changed since the review; nothing was applied, run and review "pharos plan" again`,
  )
}

/** The plan differs from the reviewed one. */
export class PlanChanged extends ExpectedFailure {
  override readonly name = 'PlanChanged'
  readonly code = 'E_PLAN_STALE'
  override readonly exitCode = EXIT.decisionNeeded
}

/** Hexadecimal digits of a plan's digest: 128 bits, so that the author of two plans cannot construct a collision. */
const DIGEST_DIGITS = 32

/** Whether `text` looks like the digest of a plan. Pure. */
export function isPlanDigest(text: string): boolean {
  return new RegExp(`^[0-9a-f]{${DIGEST_DIGITS}}$`).test(text)
}

/**
 * Identifies everything that an apply of `planResult` would write to the current services: 32 hexadecimal digits. `null`
 * when a change needs a secret that is not available here and has no fingerprint in the state.
 *
 * Secrets enter as fingerprints, HMACs under the key of the state, so the digest does not reveal a short secret; without a
 * lasting key they are left out. All other inputs are visible in the plan or the API.
 */
export function planDigestOf(planResult: PlanResult, home: PlanHome): string | null {
  const { orgId, sourceName } = home
  const held = new Set(planResult.limited.withheld.map(({ key }) => key))
  const changes = planResult.plan.changes
    .filter(({ kind }) => kind !== 'drifted')
    .map((change) => coveredOf(change, held.has(change.key), planResult))
  let isComplete = true
  const text = JSON.stringify({ orgId, sourceName, changes }, (key, value: unknown) => {
    if (key !== 'sealed') return value
    if (!home.hasLastingFingerprints) return 'secret'
    if (value === UNKNOWN_FINGERPRINT) isComplete = false
    return value
  })
  return isComplete ? createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS) : null
}

/** `change` with the definition, `paused` and policy that it writes, and the current service. */
function coveredOf(change: Change, isHeld: boolean, planResult: PlanResult): object {
  const desired = planResult.desired.get(change.key)
  return {
    change,
    isHeld,
    definition: withAppliedSecrets(desired?.canonical, planResult.bindings.get(change.key)?.desired),
    paused: desired?.paused,
    policy: desired?.policy,
    live: liveFingerprint(change, planResult),
  }
}

/** `value` with `applied` secrets in place of unavailable ones, which the plan treats as unchanged. */
function withAppliedSecrets(value: unknown, applied: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (typeof applied !== 'object' || applied === null) return value
  if ('sealed' in value && value.sealed === UNKNOWN_FINGERPRINT) return applied
  if (Array.isArray(value))
    return value.map((part, index) => withAppliedSecrets(part, Reflect.get(applied, index)))
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withAppliedSecrets(part, Reflect.get(applied, key))]),
  )
}
