import { unreadableCharacter } from './readableText.ts'
import { isLongerThan, tooLong } from './text.ts'

/** Longest endpoint URL (code points). Gap G18. */
export const URL_CHARS_MAX = 2_048

// Exactly two slashes: the WHATWG parser drops further ones and takes the path for the host.
const HTTP_SCHEME = /^https?:\/\/(?!\/)/i
// The WHATWG parser strips tabs and newlines and turns backslashes into slashes: the checked URL would differ from the
// stored one. Control characters, blanks and backslashes are therefore refused before parsing.
const STRIPPED_OR_REWRITTEN = /[\s\p{Cc}\\]/u

/**
 * Why `url` cannot be monitored, as the rest of a sentence that starts with the field's name; `undefined` when it can.
 * A forbidden address is not a problem of the text: such an endpoint is stored and marked `blocked` (Gap G2). Gap G18.
 * Pure.
 */
export function endpointUrlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (isLongerThan(url, URL_CHARS_MAX)) return tooLong(URL_CHARS_MAX)
  if (STRIPPED_OR_REWRITTEN.test(url)) return 'must not contain blanks, control characters or backslashes'
  const unreadable = unreadableCharacter(url, 'one line')
  if (unreadable !== undefined) return unreadable
  if (!HTTP_SCHEME.test(url)) return 'must be an absolute http:// or https:// URL'
  const parsed = parsedUrl(url)
  if (parsed === undefined) return 'must be an absolute http:// or https:// URL'
  // Credentials in a URL would be stored and shown in clear, past the sealing of header values.
  if (authorityOf(url).includes('@')) {
    return 'must not contain a user name or password: use a sensitive header'
  }
  if (parsed.port === '0') return 'must not use port 0'
  return undefined
}

function authorityOf(url: string): string {
  return url.replace(HTTP_SCHEME, '').split(/[/?#]/, 1)[0] ?? ''
}

/**
 * `text` as a URL, relative to `base` if there is one; `undefined` when it is not a URL. Pure.
 *
 * URL.canParse of Node 20 is no substitute: once V8 has compiled it, it refuses every text with letters such as ü.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
