/** Diagnostics: messages of handlers to the user of Terraform. */
import type { Path } from '../values/path.ts'

/** An error stops the run; a warning does not. `path` makes Terraform quote the line of configuration. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** One line. */
  readonly summary: string
  /** What to do about it, in one or more lines. Never contains a secret value. */
  readonly detail: string
  readonly path?: Path
}

/** An error. Pass `path` whenever one attribute is the cause. */
export function errorAt(path: Path | undefined, summary: string, detail = ''): Diagnostic {
  return { severity: 'error', summary, detail, ...(path === undefined ? {} : { path }) }
}

/** A warning. Pass `path` whenever one attribute is the cause. */
export function warningAt(path: Path | undefined, summary: string, detail = ''): Diagnostic {
  return { severity: 'warning', summary, detail, ...(path === undefined ? {} : { path }) }
}

/** Whether any of `diagnostics` is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/** An error with its own diagnostics, which are shown when a handler throws it. */
export class DiagnosticError extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(...diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ summary }) => summary).join('; '))
    this.name = 'DiagnosticError'
    this.diagnostics = diagnostics
  }
}

/** An exception with one error that no attribute causes. */
export function failure(summary: string, detail: string): DiagnosticError {
  return new DiagnosticError(errorAt(undefined, summary, detail))
}
