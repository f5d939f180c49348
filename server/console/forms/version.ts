import { createHash } from 'node:crypto'

/** Version of a text, for a hidden field: a different version shows that the text has changed meanwhile. Pure. */
export function versionOfText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
