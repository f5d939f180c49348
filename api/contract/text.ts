import * as z from 'zod'

/** Length in code points: what a reader counts, emoji included. Pure. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** A string with something in it besides blanks, at most `charsMax` code points after trimming, kept as sent. */
export function requiredText(charsMax: number): z.ZodType<string, string> {
  return z
    .string({ error: 'must be a string' })
    .refine((text) => text.trim() !== '', { error: 'must not be empty' })
    .refine((text) => codePoints(text.trim()) <= charsMax, {
      error: `must have at most ${charsMax} characters`,
    })
}

/** A token of RFC 9110: what a header name may be. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
