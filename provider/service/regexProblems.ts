import type { ServiceRequest } from '../../api/contract/service.ts'
import { type Diagnostic, errorAt } from '../protocol/diagnostics.ts'
import { formatPath } from '../protocol/values/path.ts'
import { attributePath } from './attributePath.ts'

/**
 * Regular expressions of `request` that are not RE2's, which the server would refuse (Gap G18).
 * The engine is loaded only where there is an expression.
 */
export async function regexProblems(request: ServiceRequest): Promise<readonly Diagnostic[]> {
  const patterns = request.endpoints.flatMap((endpoint, index) =>
    endpoint.assertions.flatMap((assertion, place) => {
      const [kind, matcher] =
        'Header' in assertion
          ? (['Header', assertion.Header.matcher] as const)
          : 'Body' in assertion
            ? (['Body', assertion.Body.matcher] as const)
            : []
      if (kind === undefined || !('Regex' in matcher)) return []
      const path = attributePath(['endpoints', index, 'assertions', place, kind, 'matcher', 'Regex'])
      return [{ path, pattern: matcher.Regex }]
    }),
  )
  if (patterns.length === 0) return []
  const { RE2JS } = await import('re2js')
  const isKnown = (pattern: string): boolean => {
    try {
      RE2JS.compile(pattern)
      return true
    } catch {
      // Whatever the engine has against it, it does not compile.
      return false
    }
  }
  return patterns
    .filter(({ pattern }) => !isKnown(pattern))
    .map(({ path }) =>
      errorAt(
        path,
        'Not a regular expression in RE2 syntax',
        `${formatPath(path)} does not compile: RE2 has no look-around and no back-references, and every group has to be closed.`,
      ),
    )
}
