type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Whether a page of the same origin made a request that changes something, according to `Sec-Fetch-Site`, or to
 * `Origin` when the browser does not send that. False when both are absent. Pure.
 */
export function isSameOrigin(headers: RequestHeaders, isOwnOrigin: (origin: string) => boolean): boolean {
  const site = headers['sec-fetch-site']
  // `same-site` is refused, because it includes pages on other ports of this host.
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  return typeof origin === 'string' && isOwnOrigin(origin)
}

/** The value of a cookie in the Cookie header; `undefined` when it is absent. Pure. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}
