import { suggestsSecret } from '../../../api/contract/requestHeaders.ts'
import type { ManifestProblem } from '../manifestProblem.ts'
import type { ServiceManifest, ValueForm } from '../schema/serviceManifest.ts'
import { type Origin, problemIn } from './origin.ts'

/** Warnings about headers of `manifest` whose names suggest a secret and whose values are in clear. Pure. */
export function plaintextSecretWarnings(
  manifest: ServiceManifest,
  origin: Origin,
): readonly ManifestProblem[] {
  return manifest.spec.endpoints.flatMap(({ headers }, index) =>
    Object.entries(headers ?? {}).flatMap(([name, form]): readonly ManifestProblem[] => {
      if (!suggestsSecret(name) || !isClear(form)) return []
      const message = 'looks like a secret, but is sent and stored in clear'
      const hint = 'refer to it as { env: NAME } or { file: /run/secrets/NAME }'
      const path = ['spec', 'endpoints', index, 'headers', name]
      return [problemIn(origin, { path, code: 'W_CLEAR_SECRET', message, hint })]
    }),
  )
}

/** An inline value marked as sensitive is sealed, or refused. */
function isClear(form: ValueForm): boolean {
  if (typeof form === 'string') return form !== ''
  return 'value' in form && form.sensitive !== true && form.value !== ''
}
