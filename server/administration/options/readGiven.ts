import { InvalidArgumentError } from 'commander'

/** Parses a value that must not be empty: a script may have forgotten to set a variable. */
export function readGiven(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('must not be empty')
}
