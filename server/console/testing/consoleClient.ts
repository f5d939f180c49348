import { cookieOf } from '../../../web/browserRequest.ts'
import { SESSION_COOKIE } from '../routing/cookies.ts'

/** A response of the console; for an event stream only its head. */
export interface ConsoleResponse {
  readonly status: number
  readonly text: string
  /** Target of a redirect; '' for none. */
  readonly location: string
  readonly headers: Headers
}

/** A browser without scripts: it stores cookies, follows no redirects, and sends Sec-Fetch-Site. */
export class ConsoleClient {
  readonly #url: string
  readonly #cookies = new Map<string, string>()

  constructor(url: string, sessionToken?: string) {
    this.#url = url
    if (sessionToken !== undefined) this.#cookies.set(SESSION_COOKIE, sessionToken)
  }

  /** Value of a cookie; `undefined` when it is not set. */
  cookie(name: string): string | undefined {
    return this.#cookies.get(name)
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ConsoleResponse> {
    return this.#send(path, { headers })
  }

  /** Sends a form as a page of the console does; `headers` replace Sec-Fetch-Site. */
  post(
    path: string,
    form: Readonly<Record<string, string>> | URLSearchParams = {},
    headers: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<ConsoleResponse> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(form), headers })
  }

  async #send(path: string, init: RequestInit & { headers: Readonly<Record<string, string>> }) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...init.headers, ...(cookie === '' ? {} : { cookie }) }
    const response = await fetch(`${this.#url}${path}`, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [name = ''] = line.split('=')
      const value = cookieOf(line, name) ?? ''
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isEndless) await response.body?.cancel()
    return {
      status: response.status,
      text: isEndless ? '' : await response.text(),
      location: response.headers.get('location') ?? '',
      headers: response.headers,
    }
  }
}
