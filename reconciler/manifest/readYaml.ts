import { loadAll, YAMLException } from 'js-yaml'
import { MANIFEST_DEPTH_MAX } from './manifestLimits.ts'
import type { ManifestProblem } from './manifestProblem.ts'
import { Positions } from './position.ts'
import { unclosedIn } from './unclosed.ts'

/** One file of a set. `file` is what messages call it, `directory` its folder below the set's root (`''` at the root). */
export interface ManifestFile {
  readonly file: string
  readonly directory: string
  readonly text: string
}

/**
 * One document of a file, as plain data. `index` counts the documents of the file from 0. One that is
 * `faulty` may be checked but not used: the file holds a repeated key, and which value counts is not known.
 */
export interface ManifestDocument {
  readonly source: ManifestFile
  readonly index: number
  readonly value: unknown
  readonly faulty: boolean
}

/** The documents of a file, empty ones left out, and what keeps it from being read. */
export interface ReadFile {
  readonly documents: readonly ManifestDocument[]
  readonly problems: readonly ManifestProblem[]
}

/**
 * Reads the YAML of `source`. Aliases are refused, so that no document can grow beyond its own text; a
 * repeated key is a problem, but the rest of the file is read all the same. Pure.
 */
export function readYaml(source: ManifestFile): ReadFile {
  try {
    return { documents: documentsOf(source, false), problems: [] }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const repeated = error.reason === 'duplicated mapping key' ? repeatedKeyProblems(source) : []
    if (repeated.length > 0) return afterRepeatedKeys(source, repeated)
    return { documents: [], problems: [syntaxProblem(source, error)] }
  }
}

function afterRepeatedKeys(source: ManifestFile, problems: readonly ManifestProblem[]): ReadFile {
  try {
    return { documents: documentsOf(source, true), problems }
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return { documents: [], problems: [...problems, syntaxProblem(source, error)] }
  }
}

/** With `json`, js-yaml lets the last of repeated keys win instead of throwing. */
function documentsOf(source: ManifestFile, json: boolean): readonly ManifestDocument[] {
  const values = loadAll(source.text, {
    filename: source.file,
    maxAliases: 0,
    maxDepth: MANIFEST_DEPTH_MAX,
    json,
  })
  return values.flatMap((value, index) => (value === null ? [] : [{ source, index, value, faulty: json }]))
}

function repeatedKeyProblems(source: ManifestFile): readonly ManifestProblem[] {
  return new Positions(source.text).repeatedKeys().map(({ key, at }) => ({
    code: 'E_DUP_FIELD',
    file: source.file,
    ...at,
    message: `${key} is already set in this mapping`,
    hint: 'keep one of the two',
  }))
}

function syntaxProblem(source: ManifestFile, error: YAMLException): ManifestProblem {
  const line = (error.mark?.line ?? 0) + 1
  const column = (error.mark?.column ?? 0) + 1
  const place = { file: source.file, line, column }
  if (error.reason.startsWith('aliases exceeded')) {
    return {
      code: 'E_ALIAS',
      ...place,
      // The mark stands behind the asterisk.
      column: Math.max(1, column - 1),
      message: 'aliases are not supported',
      hint: 'share values with a kind: Defaults document',
    }
  }
  if (error.reason.startsWith('nesting exceeded')) {
    return { code: 'E_LIMIT', ...place, message: `nesting is deeper than ${MANIFEST_DEPTH_MAX} levels` }
  }
  const unclosed = unclosedIn(source.text, error)
  if (unclosed !== undefined) {
    const { opener, closer, line, column } = unclosed
    const message = `this ${opener} is not closed`
    const hint = `close it with ${closer}, and indent what stands inside`
    return { code: 'E_YAML', file: source.file, line, column, message, hint }
  }
  const isTab = error.reason.includes('tab character')
  return {
    code: 'E_YAML',
    ...place,
    message: error.reason,
    ...(isTab ? { hint: 'indent with spaces' } : {}),
  }
}
