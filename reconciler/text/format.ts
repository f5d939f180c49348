/**
 * How a result is written: `text` for people, `json` one document, `github` text with annotations of the lines
 * that are wrong, `sarif` one SARIF log of them, `markdown` a comment for a pull request.
 */
export const FORMATS = ['text', 'json', 'github', 'sarif', 'markdown'] as const

export type Format = (typeof FORMATS)[number]

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
