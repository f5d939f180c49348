import { InvalidArgumentError } from 'commander'
import { readableTextProblem } from '../../../api/contract/text.ts'

/** Rules of a text besides its length; one line that is not empty when absent. */
type Rule = Partial<Omit<Parameters<typeof readableTextProblem>[1], 'charsMax'>>

/** Parses an option with a text for people, of at most `charsMax` code points (Gap G35). */
export function readableOption(charsMax: number, rule: Rule = {}): (text: string) => string {
  return (text) => {
    const problem = readableTextProblem(text, { charsMax, lines: 'one line', ...rule })
    if (problem !== undefined) throw new InvalidArgumentError(problem)
    return text
  }
}
