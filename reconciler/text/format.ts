/**
 * Output formats: `text`; `json`, one document; `github`, text with annotations of problems; `sarif`, a SARIF log of problems;
 * `markdown`, a comment for a pull request; `junit`, a test report.
 */
const FORMATS = ['text', 'json', 'github', 'sarif', 'markdown', 'junit'] as const

export type Format = (typeof FORMATS)[number]

/** Formats for plans, in the order of the help. */
export const PLAN_FORMATS: readonly Format[] = ['text', 'json', 'github', 'sarif', 'markdown']

/** Formats for results of checks, in the order of the help. */
export const CHECK_FORMATS: readonly Format[] = ['text', 'json', 'junit']

/** Formats for problems of manifests, in the order of the help. */
export const PROBLEM_FORMATS: readonly Format[] = ['text', 'json', 'github', 'sarif']

/** The format in the options; `--json` is short for `--format json`. Pure. */
export function formatOf(options: { readonly json?: boolean; readonly format?: string }): Format {
  return FORMATS.find((format) => format === options.format) ?? (options.json === true ? 'json' : 'text')
}

/** Whether `format` consists of lines of text. Pure. */
export function isLines(format: Format): format is 'text' | 'github' {
  return format === 'text' || format === 'github'
}
