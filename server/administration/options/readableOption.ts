import { InvalidArgumentError } from 'commander'
import { readableTextProblem } from '../../../api/contract/text.ts'

/** Parses an option with a text for people: one line of 1 to `charsMax` code points (Gap G35). */
export function readableOption(charsMax: number): (text: string) => string {
  return (text) => {
    const problem = readableTextProblem(text, { charsMax, lines: 'one line' })
    if (problem !== undefined) throw new InvalidArgumentError(problem)
    return text
  }
}
