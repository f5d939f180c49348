import { createHash } from 'node:crypto'

/** Stands in a form for what a person saw: when `text` has another version, others have changed it since. Pure. */
export function versionOfText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
