/** Characters permitted in texts for people. Gap G35. */

const DIRECTION = String.raw`\u202a-\u202e\u2066-\u2069`
// Deprecated format controls, the byte order mark, interlinear annotations: no text of any language needs them.
const FORMAT = String.raw`\u206a-\u206f\ufeff\ufff9-\ufffb`
const LINE_BREAK = String.raw`\n\r\u0085\u2028\u2029`

/**
 * Characters that terminals and CI logs interpret, line breaks included, and characters that change the writing
 * direction.
 */
export const CONTROL_CHARACTERS = new RegExp(String.raw`[\p{Cc}${LINE_BREAK}${DIRECTION}]`, 'gu')

/** The two forms of a text: a name is one line, a message has paragraphs. */
export type Lines = 'one line' | 'many lines'

/**
 * Refused characters, with their name in a message; the first match names a character.
 *
 * Permitted, because languages and emoji need them: U+200C and U+200D (joiners), U+200E, U+200F and U+061C (direction
 * marks, which reverse nothing), U+200B, U+2060 and U+00AD (line break opportunities), variation selectors and the tags
 * of flags.
 */
const REFUSED = [
  { name: 'the direction control', characters: new RegExp(`[${DIRECTION}]`, 'u') },
  { name: 'the invisible character', characters: new RegExp(`[${FORMAT}]`, 'u') },
  { name: 'the line break', characters: new RegExp(`[${LINE_BREAK}]`, 'u') },
  { name: 'the control character', characters: /\p{Cc}/u },
  { name: 'the lone surrogate', characters: /\p{Surrogate}/u },
] as const

const ANY_REFUSED = String.raw`[\p{Cc}\p{Surrogate}${LINE_BREAK}${DIRECTION}${FORMAT}]`
const FIRST_REFUSED: Readonly<Record<Lines, RegExp>> = {
  'one line': new RegExp(ANY_REFUSED, 'u'),
  // A carriage return alone overwrites the words before it.
  'many lines': new RegExp(String.raw`(?![\t\n\u2028\u2029]|\r\n)${ANY_REFUSED}`, 'u'),
}

// Blanks, characters without a glyph, and the empty pattern of Braille, which Unicode counts as a symbol.
const SEEN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/u

/** Whether `text` has a visible character. Pure. */
export function isVisible(text: string): boolean {
  return SEEN.test(text)
}

/**
 * The problem of the first character of `text` that is invisible, or that the displaying program would interpret, as
 * the rest of a sentence about the text: its code point and its place, counted in code points from 1. `undefined` when
 * there is none. Quotes nothing else of the text (Gap G11). Pure.
 */
export function unreadableCharacter(text: string, lines: Lines): string | undefined {
  const at = text.search(FIRST_REFUSED[lines])
  if (at === -1) return undefined
  const codePoint = text.codePointAt(at) ?? 0
  const character = String.fromCodePoint(codePoint)
  const kind = REFUSED.find(({ characters }) => characters.test(character))
  const place = [...text.slice(0, at)].length + 1
  const code = codePoint.toString(16).toUpperCase().padStart(4, '0')
  return `must not contain ${kind?.name ?? 'the character'} U+${code} (character ${place})`
}
