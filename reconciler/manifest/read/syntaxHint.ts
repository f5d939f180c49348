import type { YAMLException } from 'js-yaml'
import type { LineColumn } from '../manifestProblem.ts'

/** Characters that look like a space. */
const ODD_BLANK = /[\u00a0\u2000-\u200b\u202f\u3000]/
/** An unquoted text with a colon and a blank, which start another value: `name: Shop: checkout`. */
const COLON_IN_TEXT = /^\s*(?:- +)*[^\s"'#[{][^:]*:\s+[^\s"'[{#&*!|>][^#]*:(?:\s|$)/
/** An unquoted text that starts with a character reserved by YAML. */
const RESERVED_START = /(?:^|:|-)\s+[@`%]/
/** Text after a closing quote. */
const BEHIND_QUOTES = /:\s+(?:"[^"]*"|'[^']*')\s*[^\s#,\]}]/
/** A field without a blank after its colon, which makes it a string: `interval:30s`; addresses excepted. */
const NO_BLANK = /^\s*(?:- +)*[A-Za-z][\w-]*:(?!\/\/)[^\s:]/
const CONFLICT = /^(?:<{7}|>{7}) /
const TAG = /^unknown .*tag/

/** The place of an unresolved git conflict in `text`; `undefined` for none. Pure. */
export function conflictIn(text: string): LineColumn | undefined {
  const line = text.split(/\r\n|\n|\r/).findIndex((one) => CONFLICT.test(one))
  return line < 0 ? undefined : { line: line + 1, column: 1 }
}

/** Hint for the syntax `error` of `text`, derived from its line; `undefined` for none. Pure. */
export function syntaxHint(text: string, error: YAMLException): string | undefined {
  const { reason, mark } = error
  if (reason.includes('tab character')) return 'indent with spaces'
  if (TAG.test(reason)) return 'tags are not supported: remove the word that starts with !'
  const lines = text.split(/\r\n|\n|\r/)
  const at = mark?.line ?? 0
  const line = lines[at] ?? ''
  const before = lines[at - 1] ?? ''
  const odd = [line, before].find((one) => ODD_BLANK.test(one))
  if (odd !== undefined) {
    const where = odd === line ? 'this line' : 'the line before'
    return `a blank on ${where} is not an ordinary space: type it again`
  }
  if (reason.includes('complex key')) return 'a mapping cannot be a key: quote a text that starts with {'
  if (reason.includes('escape sequence')) return 'a backslash is literal between single quotes'
  if (COLON_IN_TEXT.test(line)) return 'quote a text that contains ": "'
  if (RESERVED_START.test(line)) return 'quote a text that starts with @, ` or %'
  const joined = [line, before].find((one) => NO_BLANK.test(one))
  if (joined !== undefined && /indentation|multiline key/.test(reason)) {
    const where = joined === line ? 'this line' : 'the line before'
    return `put a space after the colon on ${where}`
  }
  if (reason.includes('multiline key')) return 'an earlier line has no ": " after its key'
  if (BEHIND_QUOTES.test(line)) return 'quote the whole text'
  if (reason.includes('indentation'))
    return 'items of one list start in the same column, and so do the fields of one mapping'
  return undefined
}
