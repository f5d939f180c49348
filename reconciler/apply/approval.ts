import { createHash } from 'node:crypto'
import { approvableKeys, approvalText, type BrakedPlan, releasedKeys } from '../plan/brakes.ts'
import { type Live, liveFingerprint } from './liveFingerprint.ts'
import type { PlanResult } from './planResult.ts'

/**
 * What an approval of everything that approvable brakes hold back has to name; null when they hold nothing. The
 * same changes of the same services have the same digest; anything that happens to one of those services gives another. Pure.
 */
export function digestOf(braked: BrakedPlan, live: Live): string | null {
  const keys = approvableKeys(braked)
  if (keys.size === 0) return null
  const held = braked.withheld.filter(({ key }) => keys.has(key))
  const text = approvalText(held.map((change) => ({ change, live: liveFingerprint(change, live) })))
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** `planResult` with the changes released that the digest `approved` covers; unchanged when it is not its digest. Pure. */
export function withApproval(planResult: PlanResult, approved: string | undefined): PlanResult {
  if (!isOpened(planResult) || approved !== planResult.digest) return planResult
  const tripped = planResult.braked.tripped.filter((brake) => !brake.approvable)
  const held = new Set(tripped.flatMap((brake) => brake.keys))
  const { changes } = planResult.plan
  const braked = {
    changes: changes.filter((change) => !held.has(change.key)),
    withheld: changes.filter((change) => held.has(change.key)),
    tripped,
  }
  return { ...planResult, braked, digest: null }
}

/** Whether an approval would release any change now: it releases none that another brake blocks too. Pure. */
export function isOpened({ digest, braked }: Pick<PlanResult, 'digest' | 'braked'>): boolean {
  return digest !== null && releasedKeys(braked).size > 0
}
