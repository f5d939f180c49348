import * as z from 'zod'
import { isVisible, type Lines, unreadableCharacter } from './readableText.ts'

/**
 * Length in code points, the unit of every length of a text: about the characters that a reader counts, most emoji
 * included. Pure.
 */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Whether `text` has more than `charsMax` code points; counting stops there, so a text of any size is cheap. Pure. */
export function isLongerThan(text: string, charsMax: number): boolean {
  // A code point takes one or two of the units that `length` counts.
  if (text.length <= charsMax) return false
  return text.length > 2 * charsMax || codePoints(text) > charsMax
}

/** The problem of a text with more than `charsMax` code points. Pure. */
export function tooLong(charsMax: number): string {
  return `must have at most ${charsMax} characters`
}

/** A string of at most `charsMax` code points, all of which is measured and stored. Gap G18. */
export function limitedText(charsMax: number): z.ZodType<string, string> {
  return z
    .string({ error: 'must be a string' })
    .refine((text) => !isLongerThan(text, charsMax), { error: tooLong(charsMax) })
    .meta({ maxLength: charsMax })
}

/** Limits of a text for people. */
export interface ReadableTextRule {
  /** Maximum number of code points of the stored text, blanks included. */
  readonly charsMax: number
  readonly lines: Lines
  /** Whether it may be empty; a text that is not empty needs a visible character. */
  readonly mayBeEmpty?: boolean
  /** The problem of a value that is not a string; `must be a string` when absent. */
  readonly error?: string
}

/** The problem of `text` under `rule`, as the rest of a sentence; `undefined` when there is none. Gap G35. Pure. */
export function readableTextProblem(text: string, rule: ReadableTextRule): string | undefined {
  if (isLongerThan(text, rule.charsMax)) return tooLong(rule.charsMax)
  if (text.trim() === '' && rule.mayBeEmpty !== true) return 'must not be empty'
  const unreadable = unreadableCharacter(text, rule.lines)
  if (unreadable !== undefined) return unreadable
  return text === '' || isVisible(text) ? undefined : 'must have a visible character'
}

/** A text for people, measured and stored as it was sent. Gap G18, Gap G35. */
export function readableText(rule: ReadableTextRule): z.ZodType<string, string> {
  return z
    .string({ error: rule.error ?? 'must be a string' })
    .superRefine((text, context) => {
      const problem = readableTextProblem(text, rule)
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
    })
    .meta({ ...(rule.mayBeEmpty === true ? {} : { minLength: 1 }), maxLength: rule.charsMax })
}

/** A token of RFC 9110, as a header name is. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
