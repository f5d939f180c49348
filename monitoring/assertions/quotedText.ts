import { visible } from '../../api/contract/visibleText.ts'

/** Most characters of a value that a text shows. */
const QUOTED_CHARS_MAX = 200
/** Stands for what is not shown. */
export const HIDDEN = '…'

// Their values open doors, or are made to be secret.
const PRIVATE_HEADERS = /^(?:set-cookie2?|authorization|www-authenticate|proxy-.*)$/

/** What must not be shown. */
export interface Quoting {
  /** Whether `text`, which is whole, holds a secret of the request. */
  readonly isPrivate: (text: string) => boolean
  /** Whether the request has a sealed header of this name, in lower case: an echo of it would be the secret. */
  readonly isSealedHeader: (name: string) => boolean
}

/** `"text"` with what terminals obey made visible and no more than 200 characters; `…` where it holds a secret. Pure. */
export function quotedText(text: string, { isPrivate }: Quoting): string {
  if (isPrivate(text)) return HIDDEN
  const shown = text.length > QUOTED_CHARS_MAX ? `${[...text].slice(0, QUOTED_CHARS_MAX).join('')}…` : text
  return `"${visible(shown)}"`
}

/** The same of the value of the header `name`, which is in lower case. Pure. */
export function quotedHeader(name: string, value: string, quoting: Quoting): string {
  if (PRIVATE_HEADERS.test(name) || quoting.isSealedHeader(name)) return HIDDEN
  return quotedText(value, quoting)
}
