import { CONTROL_CHARACTERS } from './readableText.ts'

/**
 * `text`, which may come from any author, made safe for one line: a line break or a control character becomes `\u000a`.
 * Pure.
 */
export function visible(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
