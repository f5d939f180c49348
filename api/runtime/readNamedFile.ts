import { readFileSync } from 'node:fs'
import { codeOf } from './errorCode.ts'

/** The text of `file`, which the option or variable `name` names. Throws an Error with both when it cannot be read. */
export function readNamedFile(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${file} cannot be read (${codeOf(error)}): check ${name}`)
  }
}
