import type { Problem } from './problem.ts'
import { HEADER_NAME } from './text.ts'

/** Maximum number of headers of one call. Gap G18. */
export const HEADERS_MAX = 50
/** Longest header name and value (characters), and all of them together. Gap G18. */
export const HEADER_NAME_CHARS_MAX = 128
export const HEADER_VALUE_CHARS_MAX = 8_192
export const HEADERS_CHARS_MAX = 32_768

/** Headers of the connection, not of the check: a check that set them could not be sent. Gap G18. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

// A header field is Latin-1 on the wire; CR, LF and NUL would end it early.
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** The problem of `name` as a header of a check, as the rest of a sentence; `undefined` when there is none. Pure. */
export function headerNameProblem(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return 'is not a header name'
  if (name.length > HEADER_NAME_CHARS_MAX) return `has more than ${HEADER_NAME_CHARS_MAX} characters`
  const lower = name.toLowerCase()
  if (CONNECTION_HEADERS.has(lower) || lower.startsWith('proxy-')) {
    return 'belongs to the connection and cannot be set'
  }
  return undefined
}

/** The problem of `value` as a header value; `undefined` when there is none. Never quotes it. Pure. */
export function headerValueProblem(value: string): string | undefined {
  if (!HEADER_VALUE.test(value)) return 'must be Latin-1 text without line breaks'
  if (value.length > HEADER_VALUE_CHARS_MAX) return `must have at most ${HEADER_VALUE_CHARS_MAX} characters`
  return undefined
}

/** The first problem of a call's headers, with its path below `headers`; `undefined` when there is none. Pure. */
export function requestHeadersProblem(
  headers: Readonly<Record<string, { readonly value: string }>>,
): Problem | undefined {
  const names = Object.keys(headers)
  if (names.length > HEADERS_MAX) return { path: [], message: `must have at most ${HEADERS_MAX} headers` }
  const seen = new Set<string>()
  let total = 0
  for (const [name, { value }] of Object.entries(headers)) {
    const nameProblem = headerNameProblem(name)
    if (nameProblem !== undefined) return { path: [], message: `has a name that ${nameProblem}` }
    if (seen.has(name.toLowerCase())) return { path: [], message: 'has a name twice, ignoring case' }
    seen.add(name.toLowerCase())
    const valueProblem = headerValueProblem(value)
    if (valueProblem !== undefined) return { path: [name, 'value'], message: valueProblem }
    total += name.length + value.length
  }
  if (total > HEADERS_CHARS_MAX) {
    return { path: [], message: `must have at most ${HEADERS_CHARS_MAX} characters in all` }
  }
  return undefined
}

/** Words of names that hold secrets; `author` is none. */
const SECRET_NAME = /auth(?!or(?!i))|cookie|token|secret|passw|api.?key|credential|session|signature/i
/** Last words of names that hold secrets. */
const SECRET_ENDING = /(?:^|[-_.])(?:key|sig|pwd|jwt)$/i
/** Names with such an ending that hold none. */
const HARMLESS = /^(?:idempotency|surrogate|cache|sort|partition|primary|foreign|public)[-_.]key$/i

/** Whether the name of a header or of a parameter suggests that its value is a secret. Pure. */
export function suggestsSecret(name: string): boolean {
  return SECRET_NAME.test(name) || (SECRET_ENDING.test(name) && !HARMLESS.test(name))
}
