import { HIDDEN, type Quoting } from '../assertions/quotedText.ts'
import type { RequestHeader, RequestHop, RequestValue } from './http/requestHop.ts'
import type { SeenCertificate } from './network/certificate.ts'

/** Minimum length of a sealed value to search for (characters). Shorter ones occur in many texts. */
const SEALED_CHARS_MIN = 4
/** Minimum length of a word to search for (characters): of a sealed value, and of a plain query, body or header. */
const SEALED_WORD_CHARS_MIN = 8
const CLEAR_WORD_CHARS_MIN = 12
const SEALED_WORD = new RegExp(`[\\w~+=-]{${SEALED_WORD_CHARS_MIN},}`, 'g')
const CLEAR_WORD = new RegExp(`[\\w~+=-]{${CLEAR_WORD_CHARS_MIN},}`, 'g')
/** Headers that describe the wanted response, not the sender of the request. */
const HARMLESS_HEADERS = /^(?:accept|accept-.*|cache-control|content-type|host|user-agent)$/i
/** Maximum length of a text about a check (characters). */
const TEXT_CHARS_MAX = 300

/** The rules of a check for hiding secrets. */
export interface CheckQuoting extends Quoting {
  /** Whether `text`, which must be complete, contains a sealed value of the request, in any case. */
  readonly isSealed: (text: string) => boolean
}

/**
 * The rules for hiding parts of `request` that must not be shown, because a server may send them back. Pure. The parts to
 * search for are made for each text: kept for each check, they would take ten times the memory of a long body.
 */
export function quotingFor(request: RequestHop): CheckQuoting {
  const sealed = [...request.headers, ...(request.body === null ? [] : [request.body])].flatMap((one) =>
    one.isSealed ? [one.value, ...hostName(one)] : [],
  )
  const clear = [
    ...request.url.searchParams.values(),
    request.url.search,
    ...(request.body?.isSealed === false ? [request.body.value] : []),
    ...request.headers.flatMap(({ name, value, isSealed }) =>
      isSealed || HARMLESS_HEADERS.test(name) ? [] : [value],
    ),
  ]
  const isSealed = (text: string): boolean => {
    const searched = text.toLowerCase()
    return sealed.some((value) => hasValue(searched, value) || hasWord(searched, value, SEALED_WORD))
  }
  const isClear = (text: string): boolean => {
    const searched = text.toLowerCase()
    return clear.some((value) => hasWord(searched, value, CLEAR_WORD))
  }
  const sealedNames = new Set(
    request.headers.flatMap(({ name, isSealed }) => (isSealed ? [name.toLowerCase()] : [])),
  )
  return {
    isPrivate: (text) => isSealed(text) || isClear(text),
    isSealed,
    isSealedHeader: (name) => sealedNames.has(name),
  }
}

/**
 * Whether `searched`, in lower case, contains `value` in an encoding and in any case: a redirect has its host in lower
 * case.
 */
function hasValue(searched: string, value: string): boolean {
  // No encoding is shorter than the value.
  if (value.length > searched.length) return false
  return encodings(value).some(
    (encoded) => encoded.length >= SEALED_CHARS_MIN && searched.includes(encoded.toLowerCase()),
  )
}

/** Whether `searched`, in lower case, contains one of the words of `value` in any case. */
function hasWord(searched: string, value: string, word: RegExp): boolean {
  return (value.match(word) ?? []).some((found) => searched.includes(found.toLowerCase()))
}

/** The name in a Host header, without the port, because servers redirect to the name. */
function hostName(one: RequestValue | RequestHeader): readonly string[] {
  return 'name' in one && one.name.toLowerCase() === 'host' ? [one.value.replace(/:\d*$/, '')] : []
}

/** `seen` for display: for `host`, the one of the check's URL, when a redirect led to a sealed one. Pure. */
export function shownCertificate(
  seen: SeenCertificate,
  host: string,
  { isSealed }: CheckQuoting,
): SeenCertificate {
  return seen.host !== host && isSealed(seen.host) ? { ...seen, host, subject: HIDDEN } : seen
}

/** `text` for display: `…` when it contains a secret, and cut to a line or two. Pure. */
export function shownText(text: string, { isPrivate }: Quoting): string {
  if (isPrivate(text)) return HIDDEN
  const characters = [...text]
  return characters.length > TEXT_CHARS_MAX ? `${characters.slice(0, TEXT_CHARS_MAX - 1).join('')}…` : text
}

function encodings(value: string): readonly string[] {
  const base64 = Buffer.from(value, 'utf8').toString('base64').replace(/=+$/, '')
  const base64Url = Buffer.from(value, 'utf8').toString('base64url')
  return [value, encodeURIComponent(value), base64, base64Url, JSON.stringify(value).slice(1, -1)]
}
