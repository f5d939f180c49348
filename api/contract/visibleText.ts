import { OBEYED } from './readableText.ts'

/**
 * `text`, which may come from any author, as a part of one line that shows all of it: a line break or another character
 * that would be obeyed becomes `\u000a`. Pure.
 */
export function visible(text: string): string {
  return text.replaceAll(OBEYED, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
