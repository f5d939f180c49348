import type { ManifestProblem } from '../manifestProblem.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import { type Origin, problemIn } from './origin.ts'

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
    const message = 'has no assertions: any response with a status below 400 counts as up'
    const hint =
      'add "assertions: [{status: 2xx}]" here or to endpointsDefaults; "assertions: []" confirms that there are none'
    const path = ['spec', 'endpoints', index]
    return [problemIn(origin, { path, code: 'W_NO_ASSERTIONS', message, hint })]
  })
}
