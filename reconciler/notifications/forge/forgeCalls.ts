import { isRetryable, type OutgoingRequest, type OutgoingResponse, type Send } from '../delivery/outgoing.ts'

/** Entries of a page of a list, and maximum of pages: ten thousand comments. */
const PER_PAGE = 100
const PAGES_MAX = 100
/** Longest part of a response in a message (characters). */
const REASON_CHARS_MAX = 200

/** A forge refused a call. The message has its reason, but neither the token nor the address. */
export class ForgeRefused extends Error {
  override readonly name = 'ForgeRefused'
  readonly status: number
  /** Pause before the next attempt (milliseconds); null when the forge requests none. */
  readonly retryAfterMs: number | null
  /** Whether the same call may succeed later. */
  readonly isRetryable: boolean

  constructor(what: string, response: OutgoingResponse) {
    super(`${what}: status ${response.status}${reasonIn(response.text)}`)
    this.status = response.status
    this.retryAfterMs = response.retryAfterMs
    this.isRetryable = isRetryable(response)
  }
}

/** Calls to one API, all with the same token. */
export interface ForgeCalls {
  /** One call; returns its response as JSON. `what` names its purpose. Throws ForgeRefused and Unreachable. */
  readonly call: (
    what: string,
    method: OutgoingRequest['method'],
    path: string,
    body?: object,
  ) => Promise<unknown>
  /** All entries of a list, page after page. */
  readonly list: (what: string, path: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
}

export function forgeCalls(
  url: string,
  headers: Readonly<Record<string, string>>,
  send: Send,
  signal: AbortSignal,
): ForgeCalls {
  const call: ForgeCalls['call'] = async (what, method, path, body) => {
    const written = body === undefined ? null : JSON.stringify(body)
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const response = await send(
      { method, url: `${url}${path}`, headers: { ...headers, ...type }, body: written },
      signal,
    )
    if (response.status < 200 || response.status >= 300) throw new ForgeRefused(what, response)
    return parsed(response.text)
  }
  return {
    call,
    // Pages by number, not by the address in a header: the token must be sent to this address only.
    list: async (what, path) => {
      const all: Readonly<Record<string, unknown>>[] = []
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const sign = path.includes('?') ? '&' : '?'
        const listed = await call(what, 'GET', `${path}${sign}per_page=${PER_PAGE}&page=${page}`)
        const entries = Array.isArray(listed) ? listed.filter(isRecord) : []
        all.push(...entries)
        if (entries.length < PER_PAGE) break
      }
      return all
    },
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // For example the page of a proxy.
    return null
  }
}

function reasonIn(text: string): string {
  const body = parsed(text)
  const message = isRecord(body) ? (body.message ?? body.error) : undefined
  if (message === undefined) return ''
  const reason = typeof message === 'string' ? message : JSON.stringify(message)
  return ` (${reason.replaceAll(/\p{Cc}/gu, ' ').slice(0, REASON_CHARS_MAX)})`
}
