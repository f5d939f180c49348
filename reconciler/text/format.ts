/**
 * How a result is written: `text` for people, `json` one document, `github` text with annotations of the lines
 * that are wrong, `sarif` one SARIF log of them, `markdown` a comment for a pull request, `junit` a report of tests.
 */
const FORMATS = ['text', 'json', 'github', 'sarif', 'markdown', 'junit'] as const

export type Format = (typeof FORMATS)[number]

/** Formats that show a plan, in the order of the help. */
export const PLAN_FORMATS: readonly Format[] = ['text', 'json', 'github', 'sarif', 'markdown']

/** Formats that show what checks came to, in the order of the help. */
export const CHECK_FORMATS: readonly Format[] = ['text', 'json', 'junit']

/** Formats that tell of problems in manifests, in the order of the help. */
export const PROBLEM_FORMATS: readonly Format[] = ['text', 'json', 'github', 'sarif']

/** The format that the options ask for; `--json` is short for `--format json`. Pure. */
export function formatOf(options: { readonly json?: boolean; readonly format?: string }): Format {
  return FORMATS.find((format) => format === options.format) ?? (options.json === true ? 'json' : 'text')
}

/** Whether lines of text are what `format` consists of. Pure. */
export function isLines(format: Format): format is 'text' | 'github' {
  return format === 'text' || format === 'github'
}
