import { visible } from '../../api/contract/visibleText.ts'

/** Codes of problems, stable for scripts, and their meanings. */
export const PROBLEM_MEANINGS = {
  E_YAML: 'the file is not valid YAML for a manifest',
  E_DUP_FIELD: 'a mapping has a field twice',
  E_ALIAS: 'the file has aliases, which are refused',
  E_LIMIT: 'a file, a set or a nesting is too large or too deep',
  E_FILE: 'a file cannot be used',
  E_API_VERSION: 'the document is not a manifest',
  E_KIND: 'the document has no known kind',
  E_UNKNOWN_FIELD: 'a field is misspelt or in the wrong place',
  E_REQUIRED: 'a field is missing',
  E_VALUE: 'a field has a value that is not allowed',
  E_DUP_KEY: 'two manifests have the same metadata.name',
  E_DUP_ID: 'two manifests have the same metadata.id',
  E_DUP_DEFAULTS: 'a folder has two Defaults',
  E_DUP_ENVIRONMENT: 'two Environments have the same name',
  E_VARIABLE: 'a variable is not defined',
  E_SECRET: 'a secret could not be resolved',
  E_INLINE_SECRET: 'a manifest contains a secret',
  W_SAME_NAME: 'two services have the same spec.name: allowed, but confusing',
  W_PATCH_TARGET: 'a patch of an Environment matches no service: allowed, but has no effect',
  W_NO_ASSERTIONS: 'an endpoint has no assertions: allowed, but detects little',
  W_CLEAR_SECRET: 'a value that looks like a secret is sent and stored in clear: allowed',
} as const

/** Codes of the rules of `pharos lint`, and their meanings. */
export const LINT_MEANINGS = {
  L_ASSERTIONS: 'an endpoint has no assertion, or none of a required kind',
  L_HTTPS: 'a URL is not encrypted',
  L_INTERVAL: 'an interval is shorter or longer than agreed',
  L_LABELS: 'a label is missing, or has a value that is not listed',
  L_REGIONS: 'a service is checked from too few regions',
} as const
export type LintCode = keyof typeof LINT_MEANINGS

export type ProblemCode = keyof typeof PROBLEM_MEANINGS | LintCode

/** The document of a place; its name is null when it has no valid one. */
export interface DocumentOrigin {
  readonly kind: 'Service' | 'Defaults' | 'Environment'
  readonly name: string | null
  /** Index among the documents of the file. */
  readonly document: number
}

/** A place in a manifest; line and column count from 1, the column in UTF-16 units as editors do. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
  /** The place after the end; absent for a point, such as that of a syntax error. */
  readonly end?: LineColumn
  /** JSON pointer in the document; absent when the place is no value. */
  readonly pointer?: string
  readonly origin?: DocumentOrigin
}

/** One problem of a manifest. `message` and `hint` never quote a value, which may be a secret. */
export interface ManifestProblem extends Place {
  readonly code: ProblemCode
  readonly message: string
  readonly hint?: string | undefined
}

/** `services/checkout.yaml:14:9`. Pure. */
export function formatPlace(place: Place): string {
  return `${place.file}:${place.line}:${place.column}`
}

/** `services/checkout.yaml:14:9: [E_VALUE] spec.interval must be … (hint)`. Pure. */
export function formatProblem(problem: ManifestProblem): string {
  const hint = problem.hint === undefined ? '' : ` (${problem.hint})`
  return visible(`${formatPlace(problem)}: [${problem.code}] ${problem.message}${hint}`)
}

/** `problems` by file and place, without duplicates: a problem in Defaults is found in every service below. Pure. */
export function sortedProblems(problems: readonly ManifestProblem[]): readonly ManifestProblem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]))
  return [...unique.values()].sort(
    (a, b) => compareText(a.file, b.file) || a.line - b.line || a.column - b.column,
  )
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** A line and a column, both from 1. */
export interface LineColumn {
  readonly line: number
  readonly column: number
}
