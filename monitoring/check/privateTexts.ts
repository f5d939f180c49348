import { HIDDEN, type Quoting } from '../assertions/quotedText.ts'
import type { RequestHop } from './http/requestHop.ts'

/** Shortest sealed value that is looked for (characters): a shorter one is in every other text. */
const SEALED_CHARS_MIN = 4
/** Shortest word of a sealed value, and of a query, a body or a header in clear, that is looked for (characters). */
const SEALED_WORD_CHARS_MIN = 8
const CLEAR_WORD_CHARS_MIN = 12
const WORD = /[\w~+=-]+/g
/** Headers that say what is wanted of a response, not who asks for it. */
const HARMLESS_HEADERS = /^(?:accept|accept-.*|cache-control|content-type|host|user-agent)$/i
/** Longest text about a check (characters). */
const TEXT_CHARS_MAX = 300

/** Tells which texts hold something of `request` that must not be shown: a server may send it back. Pure. */
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

/** `text` as it may be shown: whole, or `…` where it holds a secret, and not longer than a line or two. Pure. */
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
