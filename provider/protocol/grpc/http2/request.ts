/** The headers of a request (RFC 9113, 8.2 and 8.3). */
import type { Header } from './headerTable.ts'

/** What the headers of a request say. */
export interface Request {
  readonly method: string
  readonly path: string
  /** '' when there is none. */
  readonly contentType: string
}

const PSEUDO_HEADERS: readonly string[] = [':method', ':scheme', ':authority', ':path']
/** Headers of a connection, which HTTP/2 does not have. */
const FORBIDDEN: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]
const VALID_NAME = /^:?[!#-'*+.0-9^-z|~-]+$/
const INVALID_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/

/** The request of `headers`; `undefined` for a malformed one. Pure. */
export function requestOf(headers: readonly Header[]): Request | undefined {
  const pseudo = new Map<string, string>()
  let contentType = ''
  let hasOthers = false
  for (const [name, value] of headers) {
    if (!VALID_NAME.test(name) || INVALID_VALUE.test(value)) return undefined
    if (name.startsWith(':')) {
      if (hasOthers || pseudo.has(name) || !PSEUDO_HEADERS.includes(name)) return undefined
      pseudo.set(name, value)
      continue
    }
    hasOthers = true
    if (FORBIDDEN.includes(name) || (name === 'te' && value !== 'trailers')) return undefined
    if (name === 'content-type') contentType = value
  }
  const [method, path] = [pseudo.get(':method'), pseudo.get(':path')]
  if (method === undefined || !path || !pseudo.has(':scheme')) return undefined
  return { method, path, contentType }
}
