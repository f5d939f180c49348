import { HEADER_NAME } from '../../../api/contract/text.ts'

/** A header as received: name and value in Latin-1, without spaces around the value. */
export type ResponseHeader = readonly [name: string, value: string]

/** Status line and headers of a response. */
export interface ResponseHead {
  readonly version: '1.0' | '1.1'
  readonly status: number
  /** In the order received. */
  readonly headers: readonly ResponseHeader[]
}

/** The way to find the end of a body. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until close' }

// The reason phrase may be absent, and is never shown.
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/
// Control characters would end up in texts, and parsers disagree about a carriage return.
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const LENGTH = /^\d{1,15}$/

/**
 * Parses a head: `text` has all lines before the empty one, in Latin-1, separated by CRLF. `undefined` when it is not a
 * valid HTTP/1 head. Pure.
 */
export function parseHead(text: string): ResponseHead | undefined {
  const [statusLine = '', ...lines] = text.split('\r\n')
  const [, minor, status] = STATUS_LINE.exec(statusLine) ?? []
  if (status === undefined) return undefined
  const headers: ResponseHeader[] = []
  for (const line of lines) {
    const header = parseHeader(line)
    if (header === undefined) return undefined
    headers.push(header)
  }
  return { version: minor === '0' ? '1.0' : '1.1', status: Number(status), headers }
}

/** Parses a header line; `undefined` when it is invalid, such as a continuation of the previous line. Pure. */
export function parseHeader(line: string): ResponseHeader | undefined {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(0, colon))
  const value = line.slice(colon + 1)
  if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) return undefined
  return [name, withoutBlanks(value)]
}

/** `value` without spaces and tabs at both ends. String.trim would also drop U+00A0, which may be a byte of UTF-8. */
function withoutBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start += 1
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** All values of the header `name`, which is in lower case. Pure. */
export function headerValues({ headers }: Pick<ResponseHead, 'headers'>, name: string): readonly string[] {
  return headers.flatMap(([one, value]) =>
    one.length === name.length && one.toLowerCase() === name ? [value] : [],
  )
}

/**
 * How the body of a response with `head` ends. `undefined` when the head contradicts itself, or names a transfer coding
 * that was not requested: a guess could read a different body than the server sent. Pure.
 */
export function bodyFraming(head: ResponseHead): BodyFraming | undefined {
  const lengths = headerValues(head, 'content-length')
  const codings = headerValues(head, 'transfer-encoding')
  if (lengths.length > 1 || (lengths.length > 0 && codings.length > 0)) return undefined
  const [length] = lengths
  if (length !== undefined && !LENGTH.test(length)) return undefined
  if (head.status === 204 || head.status === 304) return { kind: 'none' }
  if (codings.length > 0) {
    const coding = codings.join(',').toLowerCase()
    if (coding === 'chunked') return { kind: 'chunked' }
    return coding === 'identity' ? { kind: 'until close' } : undefined
  }
  return length === undefined ? { kind: 'until close' } : { kind: 'length', bytes: Number(length) }
}
