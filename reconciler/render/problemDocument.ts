import type { ManifestProblem } from '../manifest/manifestProblem.ts'

/**
 * A problem as data for --json: its place twice, as a line and a column and as a range whose end is the first place
 * after it, the value that it is about as a JSON pointer, and the document that contains the value. Pure.
 */
export function problemDocument(problem: ManifestProblem): object {
  const { code, file, line, column, end = { line, column }, pointer, origin, message, hint } = problem
  return { code, file, line, column, range: { start: { line, column }, end }, pointer, origin, message, hint }
}
