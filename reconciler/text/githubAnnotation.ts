import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import { pathFrom } from './pathFrom.ts'

/**
 * The workflow command with which GitHub annotates the line of `problem` in a pull request:
 * `::error file=a.yaml,line=3,col=7,title=E_VALUE::spec.interval must be …`. Paths are relative to `cwd`. Pure.
 */
export function problemAnnotation(problem: ManifestProblem, cwd: string): string {
  const level = problem.code.startsWith('W_') ? 'warning' : 'error'
  const properties = [
    ['file', pathFrom(cwd, problem.file)],
    ['line', String(problem.line)],
    ['col', String(problem.column)],
    ['title', problem.code],
  ] as const
  const written = properties.map(([name, value]) => `${name}=${property(value)}`).join(',')
  const hint = problem.hint === undefined ? '' : ` (${problem.hint})`
  return `::${level} ${written}::${data(`${problem.message}${hint}`)}`
}

/** The workflow command for an error without a place, which GitHub shows on the page of the run. Pure. */
export function githubAnnotation(message: string): string {
  return `::error::${data(message)}`
}

/** Escapes characters that end a workflow command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Escapes commas, which end a property, and colons as well. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
