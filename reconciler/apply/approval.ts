import { createHash } from 'node:crypto'
import { approvableKeys, type LimitedPlan, releasedKeys } from '../plan/safetyLimits.ts'
import { type Live, liveFingerprint } from './liveFingerprint.ts'
import type { PlanResult } from './planResult.ts'

/**
 * The digest that approves the changes blocked by approvable safety limits; null when there are none. It is the same for the
 * same changes of the same services, and differs after any change of those services. Pure.
 */
export function digestOf(limited: LimitedPlan, live: Live): string | null {
  const keys = approvableKeys(limited)
  if (keys.size === 0) return null
  const held = limited.withheld.filter(({ key }) => keys.has(key))
  const lines = held.map((change) => `${JSON.stringify(change)} ${liveFingerprint(change, live)}`)
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex').slice(0, 16)
}

/** `planResult` with its blocked changes released if `approved` is its digest; unchanged otherwise. Pure. */
export function withApproval(planResult: PlanResult, approved: string | undefined): PlanResult {
  if (!isReleasable(planResult) || approved !== planResult.digest) return planResult
  const tripped = planResult.limited.tripped.filter((limit) => !limit.approvable)
  const held = new Set(tripped.flatMap((limit) => limit.keys))
  const { changes } = planResult.plan
  const limited = {
    changes: changes.filter((change) => !held.has(change.key)),
    withheld: changes.filter((change) => held.has(change.key)),
    tripped,
  }
  return { ...planResult, limited, digest: null }
}

/** Whether an approval would release a change: it releases none that another safety limit blocks as well. Pure. */
export function isReleasable({ digest, limited }: Pick<PlanResult, 'digest' | 'limited'>): boolean {
  return digest !== null && releasedKeys(limited).size > 0
}
