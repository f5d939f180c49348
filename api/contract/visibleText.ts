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

/**
 * Longest text beside the blocks of a message (characters). Mattermost, Rocket.Chat and Discord show it instead of the
 * blocks, and Discord refuses more than 2,000.
 */
export const SLACK_TEXT_CHARS_MAX = 1_900

/** The words with which Mattermost, Rocket.Chat and Discord notify all readers. */
const BROADCAST = /@(?=(?:all|channel|everyone|here)\b)/gi

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * `text` for a message to Slack and programs that accept its messages, in at most `charsMax` characters: `&`, `<` and
 * `>`, with which mentions and links of Slack begin, are escaped, and words such as `@channel` notify no reader. A text
 * that is cut ends with an ellipsis. Pure.
 */
export function slackText(text: string, charsMax: number): string {
  const characters = [...text.replaceAll(BROADCAST, '@\u200b')].map((one) => ENTITIES[one] ?? one)
  let chars = 0
  const fitting = characters.findIndex((character) => {
    chars += character.length
    return chars > charsMax
  })
  return fitting === -1 ? characters.join('') : `${characters.slice(0, Math.max(0, fitting - 1)).join('')}…`
}
