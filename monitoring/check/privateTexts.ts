import { HIDDEN, type Quoting } from '../assertions/quotedText.ts'
import type { RequestHop } from './http/requestHop.ts'

/** Minimum length of a sealed value to search for (characters). Shorter ones occur in many texts. */
const SEALED_CHARS_MIN = 4
/** Minimum length of a word to search for (characters): of a sealed value, and of a plain query, body or header. */
const SEALED_WORD_CHARS_MIN = 8
const CLEAR_WORD_CHARS_MIN = 12
const WORD = /[\w~+=-]+/g
/** Headers that describe the wanted response, not the sender of the request. */
const HARMLESS_HEADERS = /^(?:accept|accept-.*|cache-control|content-type|host|user-agent)$/i
/** Maximum length of a text about a check (characters). */
const TEXT_CHARS_MAX = 300

/** The rules for hiding parts of `request` that must not be shown, because a server may send them back. Pure. */
export function quotingFor(request: RequestHop): Quoting {
  const sealed = [...request.headers, ...(request.body === null ? [] : [request.body])].flatMap((one) =>
    one.isSealed ? [one.value] : [],
  )
  const clear = [
    ...request.url.searchParams.values(),
    request.url.search,
    ...(request.body?.isSealed === false ? [request.body.value] : []),
    ...request.headers.flatMap(({ name, value, isSealed }) =>
      isSealed || HARMLESS_HEADERS.test(name) ? [] : [value],
    ),
  ]
  const needles = new Set([
    ...sealed.flatMap(encodings).filter(({ length }) => length >= SEALED_CHARS_MIN),
    ...sealed.flatMap((text) => words(text, SEALED_WORD_CHARS_MIN)),
    ...clear.flatMap((text) => words(text, CLEAR_WORD_CHARS_MIN)),
  ])
  const sealedNames = new Set(
    request.headers.flatMap(({ name, isSealed }) => (isSealed ? [name.toLowerCase()] : [])),
  )
  return {
    isPrivate: (text) => {
      for (const needle of needles) if (text.includes(needle)) return true
      return false
    },
    isSealedHeader: (name) => sealedNames.has(name),
  }
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

function words(text: string, charsMin: number): readonly string[] {
  return (text.match(WORD) ?? []).filter(({ length }) => length >= charsMin)
}
