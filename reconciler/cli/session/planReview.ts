import type { Org } from '../../../api/contract/org.ts'
import { isPlanDigest, planDigestOf, requireReviewedPlan } from '../../apply/planDigest.ts'
import type { PlanInput, PlanResult } from '../../apply/planResult.ts'
import { UsageError } from '../../run/failure.ts'
import type { Session } from './session.ts'

/** The digest that identifies the plan of `planResult`, as `pharos plan` shows it; null where a secret is missing. */
export async function planDigestIn(
  planResult: PlanResult,
  org: Org,
  { hasLastingKey, store, sourceName }: PlanInput & Session,
): Promise<string | null> {
  // Before the first apply there is no key that the next run has too: a plan may be older than its state.
  const hasLastingFingerprints = hasLastingKey && (await store.home()) !== null
  return planDigestOf(planResult, { orgId: org.id, sourceName, hasLastingFingerprints })
}

/** Refuses every plan but the one with the digest `reviewed`. Throws UsageError where that can be no digest. */
export function reviewOf(
  reviewed: string,
): (planResult: PlanResult, org: Org, input: PlanInput & Session) => Promise<void> {
  if (!isPlanDigest(reviewed))
    throw new UsageError(
      '--plan takes the digest of 32 hexadecimal digits that "pharos plan" shows; saved plan files are gone',
    )
  return async (planResult, org, input) =>
    requireReviewedPlan(reviewed, await planDigestIn(planResult, org, input))
}
