import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import { pathFrom } from './pathFrom.ts'

/**
 * `problem` as the workflow command with which GitHub marks its line in a pull request:
 * `::error file=a.yaml,line=3,col=7,title=E_VALUE::spec.interval must be …`. Paths start at `cwd`. Pure.
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

/** An error without a place, as GitHub shows it on the page of the run. Pure. */
export function githubAnnotation(message: string): string {
  return `::error::${data(message)}`
}

/** What a workflow command would end at. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** A property also ends at a comma, and its name at a colon. */
function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
