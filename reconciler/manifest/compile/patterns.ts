import { regexOf } from '../../../api/contract/assertion.ts'
import type { ManifestPath } from '../read/position.ts'
import type { ManifestDocument } from '../read/readYaml.ts'
import type { AssertionForm } from '../schema/assertionForm.ts'
import type { ServiceManifest } from '../schema/serviceManifest.ts'
import type { CompileProblem } from './compileService.ts'

/** Tells whether a text is a regular expression that the API takes. */
export type PatternCheck = (pattern: string) => boolean

/**
 * A check with the engine of the API, RE2; `undefined` when no document can hold a pattern. The engine is
 * loaded only then, because it takes longer to load than a small set to read.
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
    // Every failure of the compiler is a statement about the pattern, which its message would quote.
    return false
  }
}

/** The regular expressions of `manifest` that do not pass `isPattern`, each at its place. Pure if `isPattern` is. */
export function patternProblems(
  manifest: ServiceManifest,
  isPattern: PatternCheck,
): readonly CompileProblem[] {
  return manifest.spec.endpoints.flatMap(({ assertions }, endpoint) =>
    (assertions ?? []).flatMap((form, index) => {
      const found = patternIn(form)
      if (found === undefined || isPattern(found.pattern)) return []
      return [
        {
          path: ['spec', 'endpoints', endpoint, 'assertions', index, ...found.path],
          code: 'E_VALUE',
          message: 'is not a regular expression that RE2 compiles',
          hint: 'RE2 has no look-around, no back-references, and repetitions up to 1000',
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
