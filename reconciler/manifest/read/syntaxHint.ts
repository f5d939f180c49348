import type { YAMLException } from 'js-yaml'
import type { LineColumn } from '../manifestProblem.ts'

/** Blanks that look like a space and are none. */
const ODD_BLANK = /[\u00a0\u2000-\u200b\u202f\u3000]/
/** A text without quotes in which a colon and a blank start another value: `name: Shop: checkout`. */
const COLON_IN_TEXT = /^\s*(?:- +)*[^\s"'#[{][^:]*:\s+[^\s"'[{#&*!|>][^#]*:(?:\s|$)/
/** A text without quotes that starts with what YAML keeps for itself. */
const RESERVED_START = /(?:^|:|-)\s+[@`%]/
/** More of a text behind its quotes. */
const BEHIND_QUOTES = /:\s+(?:"[^"]*"|'[^']*')\s*[^\s#,\]}]/
/** A field whose value follows the colon at once, which makes a text of both: `interval:30s`; an address is none. */
const NO_BLANK = /^\s*(?:- +)*[A-Za-z][\w-]*:(?!\/\/)[^\s:]/
const CONFLICT = /^(?:<{7}|>{7}) /
const TAG = /^unknown .*tag/

/** Where git left a conflict in `text`, which is no YAML; `undefined` where it did not. Pure. */
export function conflictIn(text: string): LineColumn | undefined {
  const line = text.split(/\r\n|\n|\r/).findIndex((one) => CONFLICT.test(one))
  return line < 0 ? undefined : { line: line + 1, column: 1 }
}

/** What to do about the syntax `error` of `text`, as far as its line shows it; `undefined` where it does not. Pure. */
export function syntaxHint(text: string, error: YAMLException): string | undefined {
  const { reason, mark } = error
  if (reason.includes('tab character')) return 'indent with spaces'
  if (TAG.test(reason)) return 'manifests have no tags: leave out the word that starts with !'
  const lines = text.split(/\r\n|\n|\r/)
  const at = mark?.line ?? 0
  const line = lines[at] ?? ''
  const before = lines[at - 1] ?? ''
  const odd = [line, before].find((one) => ODD_BLANK.test(one))
  if (odd !== undefined) {
    const where = odd === line ? 'this line' : 'the line before'
    return `a blank on ${where} is no ordinary space: type it again`
  }
  if (reason.includes('complex key'))
    return 'a mapping is no key: put a text that starts with { between quotes'
  if (reason.includes('escape sequence')) return 'between single quotes a backslash is only itself'
  if (COLON_IN_TEXT.test(line)) return 'put a text that has ": " in it between quotes'
  if (RESERVED_START.test(line)) return 'put a text that starts with @, ` or % between quotes'
  const joined = [line, before].find((one) => NO_BLANK.test(one))
  if (joined !== undefined && /indentation|multiline key/.test(reason)) {
    const where = joined === line ? 'this line' : 'the line before'
    return `put a space behind the colon on ${where}`
  }
  if (reason.includes('multiline key')) return 'a line before this one has no ": " behind its key'
  if (BEHIND_QUOTES.test(line)) return 'put the whole text between quotes'
  if (reason.includes('indentation'))
    return 'items of one list start in the same column, and so do the fields of one mapping'
  return undefined
}
