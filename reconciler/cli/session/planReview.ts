import type { Org } from '../../../api/contract/org.ts'
import { isPlanDigest, planDigestOf, requireReviewedPlan } from '../../apply/planDigest.ts'
import type { PlanInput, PlanResult } from '../../apply/planResult.ts'
import { UsageError } from '../../run/failure.ts'
import type { Session } from './session.ts'

/** The digest of the plan in `planResult`; null when a secret is missing. */
export async function planDigestIn(
  planResult: PlanResult,
  org: Org,
  { hasLastingKey, store, sourceName }: PlanInput & Session,
): Promise<string | null> {
  // Before the first apply the state has no key that a later run could share.
  const hasLastingFingerprints = hasLastingKey && (await store.home()) !== null
  return planDigestOf(planResult, { orgId: org.id, sourceName, hasLastingFingerprints })
}

/** A check that accepts only the plan with the digest `reviewed`. Throws UsageError for a malformed digest. */
export function reviewOf(
  reviewed: string,
): (planResult: PlanResult, org: Org, input: PlanInput & Session) => Promise<void> {
  if (!isPlanDigest(reviewed))
    throw new UsageError(
      '--plan takes the digest of 32 hexadecimal digits that "pharos plan" shows; saved plan files were removed',
    )
  return async (planResult, org, input) =>
    requireReviewedPlan(reviewed, await planDigestIn(planResult, org, input))
}
