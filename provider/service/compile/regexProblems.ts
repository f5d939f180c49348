import { regexOf } from '../../../api/contract/assertion.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { type Diagnostic, errorAt } from '../../protocol/authoring/diagnostics.ts'
import { formatPath } from '../../protocol/values/path.ts'
import { attributePath } from '../schema/attributePath.ts'

/**
 * Problems for the regular expressions of `request` that RE2 does not accept and the server would refuse (Gap G18). The
 * engine is loaded only if there is an expression.
 */
export async function regexProblems(request: ServiceRequest): Promise<readonly Diagnostic[]> {
  const patterns = request.endpoints.flatMap((endpoint, index) =>
    endpoint.assertions.flatMap((assertion, place) => {
      const regex = regexOf(assertion)
      if (regex === undefined) return []
      const path = attributePath(['endpoints', index, 'assertions', place, ...regex.path])
      return [{ path, pattern: regex.pattern }]
    }),
  )
  if (patterns.length === 0) return []
  const { RE2JS, RE2JSSyntaxException } = await import('re2js')
  return patterns.flatMap(({ path, pattern }) => {
    try {
      RE2JS.compile(pattern)
      return []
    } catch (error) {
      // Any other failure also means that the pattern does not compile.
      const fault =
        error instanceof RE2JSSyntaxException
          ? faultOf(pattern, error.getDescription(), error.getPattern())
          : ''
      const advice = 'RE2 has no look-around and no back-references, and every group must be closed'
      const detail = `${formatPath(path)} does not compile${fault}. ${advice}.`
      return [errorAt(path, 'Not a regular expression in RE2 syntax', detail)]
    }
  })
}

/** The fault in `pattern` and its position, without quoting it: `: missing closing ) at character 3`. */
function faultOf(pattern: string, description: string, fragment: string | null): string {
  // The engine quotes the invalid part, which is the whole pattern when its end is missing.
  const at = fragment === null || fragment === pattern ? lastOpen(pattern) : pattern.indexOf(fragment)
  return `: ${description} at character ${[...pattern.slice(0, Math.max(0, at))].length + 1}`
}

/** Index of the innermost unclosed group or class of `pattern`; of its last character when all are closed. */
function lastOpen(pattern: string): number {
  const open: number[] = []
  let isInClass = false
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]
    if (character === '\\') at += 1
    else if (isInClass && character !== ']') continue
    else if (character === ')' || isInClass) {
      open.pop()
      isInClass = false
    } else if (character === '(' || character === '[') {
      open.push(at)
      isInClass = character === '['
    }
  }
  return open.at(-1) ?? pattern.length - 1
}
