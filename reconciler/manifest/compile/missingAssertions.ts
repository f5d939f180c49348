import { formatPath } from '../../../api/contract/problem.ts'
import type { ManifestProblem } from '../manifestProblem.ts'
import type { ManifestPath } from '../read/position.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import { type Origin, pathIn, placeIn } from './origin.ts'

/**
 * Warnings about endpoints of `manifest` without a field `assertions`, of their own or from Defaults. An empty list is
 * deliberate. Pure.
 */
export function missingAssertionWarnings(
  manifest: ServiceManifest,
  origin: Origin,
): readonly ManifestProblem[] {
  return manifest.spec.endpoints.flatMap(({ assertions }, index): readonly ManifestProblem[] => {
    if (assertions != null) return []
    const path: ManifestPath = ['spec', 'endpoints', index]
    return [
      {
        code: 'W_NO_ASSERTIONS',
        ...placeIn(origin, path, 'value'),
        message: `${formatPath(pathIn(origin, path))} has no assertions: any response with a status below 400 counts as up`,
        hint: 'add "assertions: [{status: 2xx}]" here or to endpointsDefaults; "assertions: []" confirms that there are none',
      },
    ]
  })
}
