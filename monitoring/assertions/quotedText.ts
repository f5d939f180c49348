import { visible } from '../../api/contract/visibleText.ts'

/** Maximum number of characters of a value in a text. */
const QUOTED_CHARS_MAX = 200
/** Replaces hidden values. */
export const HIDDEN = '…'

// The values of these headers grant access or are secret by design.
const PRIVATE_HEADERS = /^(?:set-cookie2?|authorization|www-authenticate|proxy-.*)$/

/** The rules for hiding secrets. */
export interface Quoting {
  /** Whether `text`, which must be complete, contains a secret of the request, in any case. */
  readonly isPrivate: (text: string) => boolean
  /** Whether the request has a sealed header of this name (lower case). An echo of it would reveal the secret. */
  readonly isSealedHeader: (name: string) => boolean
}

/** `"text"` with control characters made visible, cut to 200 characters; `…` when it contains a secret. Pure. */
export function quotedText(text: string, { isPrivate }: Quoting): string {
  if (isPrivate(text)) return HIDDEN
  const shown = text.length > QUOTED_CHARS_MAX ? `${[...text].slice(0, QUOTED_CHARS_MAX).join('')}…` : text
  return `"${visible(shown)}"`
}

/** The quoted value of the header `name`, which is in lower case. Pure. */
export function quotedHeader(name: string, value: string, quoting: Quoting): string {
  if (PRIVATE_HEADERS.test(name) || quoting.isSealedHeader(name)) return HIDDEN
  return quotedText(value, quoting)
}
