/** What kind of thing is wrong, stable for scripts. */
export type ProblemCode =
  | 'E_YAML'
  | 'E_DUP_FIELD'
  | 'E_ALIAS'
  | 'E_LIMIT'
  | 'E_FILE'
  | 'E_API_VERSION'
  | 'E_KIND'
  | 'E_UNKNOWN_FIELD'
  | 'E_REQUIRED'
  | 'E_VALUE'
  | 'E_DUP_KEY'
  | 'E_DUP_ID'
  | 'E_DUP_DEFAULTS'
  | 'E_SECRET'
  | 'E_VARIABLE'
  | 'E_DUP_ENVIRONMENT'
  | 'E_INLINE_SECRET'
  | 'W_SAME_NAME'
  | 'W_CLEAR_SECRET'

/** A place in a manifest; line and column count from 1, the column in UTF-16 units as editors do. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One thing that is wrong with a manifest. `message` and `hint` never quote a value: it may be a secret. */
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
  return `${formatPlace(problem)}: [${problem.code}] ${problem.message}${hint}`
}

/** `problems` by file, then place, each once: a fault in Defaults shows in every service below it. Pure. */
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
