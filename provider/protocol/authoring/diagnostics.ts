/** Diagnostics: what a handler has to say to the person who runs Terraform. */
import type { Path } from '../values/path.ts'

/** An error stops the run; a warning does not. `path` makes Terraform quote the line of configuration. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning'
  /** One line. */
  readonly summary: string
  /** What to do about it; may have several lines. Never a secret value. */
  readonly detail: string
  readonly path?: Path
}

/** An error. Give `path` whenever one attribute is at fault. */
export function errorAt(path: Path | undefined, summary: string, detail = ''): Diagnostic {
  return { severity: 'error', summary, detail, ...(path === undefined ? {} : { path }) }
}

/** A warning. Give `path` whenever one attribute is meant. */
export function warningAt(path: Path | undefined, summary: string, detail = ''): Diagnostic {
  return { severity: 'warning', summary, detail, ...(path === undefined ? {} : { path }) }
}

/** Whether any of `diagnostics` is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/** An error that carries its own diagnostics: thrown by a handler, it is shown as they say. */
export class DiagnosticError extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(...diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ summary }) => summary).join('; '))
    this.name = 'DiagnosticError'
    this.diagnostics = diagnostics
  }
}
