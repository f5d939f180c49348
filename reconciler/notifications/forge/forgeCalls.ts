import { type Mapping, mappingOf } from '../../manifest/mapping.ts'
import { isRetryable, type OutgoingRequest, type OutgoingResponse, type Send } from '../delivery/outgoing.ts'
import { parsedJson } from '../../text/parsedJson.ts'

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

/** How calls are sent. `signal` aborts them. GitHub refuses those without a user agent. */
export interface ForgeConnection {
  readonly userAgent: string
  readonly send: Send
  readonly signal: AbortSignal
}

/** Calls to the API at `url`, all with the same headers. */
export function forgeCalls(
  url: string,
  headers: Readonly<Record<string, string>>,
  { userAgent, send, signal }: ForgeConnection,
) {
  /** One call; returns its response as JSON. `what` names its purpose. Throws ForgeRefused and Unreachable. */
  const call = async (
    what: string,
    method: OutgoingRequest['method'],
    path: string,
    body?: object,
  ): Promise<unknown> => {
    const written = body === undefined ? null : JSON.stringify(body)
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const all = { 'User-Agent': userAgent, ...headers, ...type }
    const response = await send({ method, url: `${url}${path}`, headers: all, body: written }, signal)
    if (response.status < 200 || response.status >= 300) throw new ForgeRefused(what, response)
    return parsedJson(response.text)
  }
  return {
    call,
    /**
     * All entries of a list, page after page: by number, not by the address in a header, because the token must be sent
     * to this address only.
     */
    list: async (what: string, path: string): Promise<readonly Mapping[]> => {
      const all: Mapping[] = []
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const sign = path.includes('?') ? '&' : '?'
        const listed = await call(what, 'GET', `${path}${sign}per_page=${PER_PAGE}&page=${page}`)
        const entries: readonly unknown[] = Array.isArray(listed) ? listed : []
        all.push(...entries.map(mappingOf).filter((fields) => fields !== undefined))
        if (entries.length < PER_PAGE) break
      }
      return all
    },
  }
}

function reasonIn(text: string): string {
  const body = mappingOf(parsedJson(text))
  const message = body?.message ?? body?.error
  if (message === undefined) return ''
  const reason = typeof message === 'string' ? message : JSON.stringify(message)
  return ` (${reason.replaceAll(/\p{Cc}/gu, ' ').slice(0, REASON_CHARS_MAX)})`
}
