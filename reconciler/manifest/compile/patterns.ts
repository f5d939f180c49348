import { regexOf } from '../../../api/contract/assertion.ts'
import type { ManifestPath } from '../read/position.ts'
import type { ManifestDocument } from '../read/readYaml.ts'
import type { AssertionForm } from '../schema/assertionForm.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import type { PathProblem } from './origin.ts'

/** Whether a text is a regular expression that the API accepts. */
export type PatternCheck = (pattern: string) => boolean

/**
 * A check with RE2, the engine of the API; `undefined` when no document can contain a pattern. The engine is loaded only
 * when needed, because loading takes longer than reading a small set.
 */
export async function patternCheckFor(
  documents: readonly ManifestDocument[],
): Promise<PatternCheck | undefined> {
  const sources = new Set(documents.map(({ source }) => source))
  if (![...sources].some(({ text }) => /regex/i.test(text))) return undefined
  const { RE2JS } = await import('re2js')
  const known = new Map<string, boolean>()
  return (pattern) => {
    const isPattern = known.get(pattern) ?? compiles(() => RE2JS.compile(pattern))
    known.set(pattern, isPattern)
    return isPattern
  }
}

function compiles(compile: () => unknown): boolean {
  try {
    compile()
    return true
  } catch {
    // The only cause is the pattern; the message is dropped because it would quote it.
    return false
  }
}

/** Problems of the regular expressions of `manifest` that `isPattern` rejects. Pure if `isPattern` is. */
export function patternProblems(manifest: ServiceManifest, isPattern: PatternCheck): readonly PathProblem[] {
  return manifest.spec.endpoints.flatMap(({ assertions }, endpoint) =>
    (assertions ?? []).flatMap((form, index) => {
      const found = patternIn(form)
      if (found === undefined || isPattern(found.pattern)) return []
      return [
        {
          path: ['spec', 'endpoints', endpoint, 'assertions', index, ...found.path],
          code: 'E_VALUE',
          message: 'is not a valid RE2 regular expression',
          hint: 'RE2 has no look-around, no back-references, and at most 1000 repetitions',
        } as const,
      ]
    }),
  )
}

function patternIn(
  form: AssertionForm,
): { readonly pattern: string; readonly path: ManifestPath } | undefined {
  const written = 'body' in form ? form.body : 'header' in form ? form.header : undefined
  if (written?.regex !== undefined) {
    return { pattern: written.regex, path: ['body' in form ? 'body' : 'header', 'regex'] }
  }
  if (!('raw' in form)) return undefined
  const regex = regexOf(form.raw)
  return regex === undefined ? undefined : { pattern: regex.pattern, path: ['raw', ...regex.path] }
}
