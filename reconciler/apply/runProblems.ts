import type { DeclaredService } from '../manifest/compile/declaredService.ts'
import { problemAt } from '../manifest/compile/serviceSet.ts'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import type { Change } from '../plan/planValue.ts'
import type { ChangeOutcome } from './outcome.ts'
import { refusedPath } from './refusal.ts'

/**
 * Problems that only a run can find, at their places in manifests: a region that the API does not have, a value that it
 * refused, a service beyond the plan limits of the organisation. Pure.
 */
export function runProblems(
  changes: readonly Change[],
  outcomes: readonly Pick<ChangeOutcome, 'change' | 'result' | 'message' | 'refusal'>[],
  declared: ReadonlyMap<string, DeclaredService>,
): readonly ManifestProblem[] {
  const regions = changes.flatMap((change) => {
    const service = declared.get(change.key)
    if (change.kind !== 'blocked' || change.path === undefined || service === undefined) return []
    const { path, message, hint } = change
    return [problemAt(service, path, { code: 'E_VALUE', message, hint })]
  })
  const refused = outcomes.flatMap(({ change, result, message, refusal }) => {
    const service = declared.get(change.key)
    if (service === undefined) return []
    const path = refusal === undefined ? undefined : refusedPath(refusal, service)
    if (result === 'failed')
      return path === undefined ? [] : [problemAt(service, path, { code: 'E_VALUE', message })]
    if (result !== 'limited') return []
    const hint = 'remove or pause other services, or get a larger plan'
    return [problemAt(service, path ?? ['metadata', 'name'], { code: 'E_LIMIT', message, hint })]
  })
  return [...regions, ...refused]
}
