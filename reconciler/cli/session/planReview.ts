import type { Org } from '../../../api/contract/org.ts'
import { isPlanDigest, planDigestOf, requireReviewedPlan } from '../../apply/planDigest.ts'
import type { PlanResult } from '../../apply/planResult.ts'
import { UsageError } from '../../run/failure.ts'
import type { OpenScene } from './scene.ts'
import type { Session } from './session.ts'

/** The digest that identifies the plan of `situation`, as `pharos plan` shows it; null where a secret is missing. */
export async function planDigestIn(
  situation: PlanResult,
  org: Org,
  { loaded, session }: OpenScene<Session>,
): Promise<string | null> {
  // Before the first apply there is no key that the next run has too: a plan may be older than its state.
  const hasLastingFingerprints = session.hasLastingKey && (await session.store.home()) !== null
  return planDigestOf(situation, { orgId: org.id, sourceName: loaded.name, hasLastingFingerprints })
}

/** Refuses every plan but the one with the digest `reviewed`. Throws UsageError where that can be no digest. */
export function reviewOf(
  reviewed: string,
): (situation: PlanResult, org: Org, open: OpenScene<Session>) => Promise<void> {
  if (!isPlanDigest(reviewed))
    throw new UsageError(
      '--plan takes the digest of 32 hexadecimal digits that "pharos plan" shows; saved plan files are gone',
    )
  return async (situation, org, open) =>
    requireReviewedPlan(reviewed, await planDigestIn(situation, org, open))
}
