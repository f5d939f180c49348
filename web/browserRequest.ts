type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Whether a request that changes something was made by a page of its own origin: by `Sec-Fetch-Site`, or by `Origin`
 * where a browser does not send that. False when both are absent. Pure.
 */
export function isSameOrigin(headers: RequestHeaders, isOwnOrigin: (origin: string) => boolean): boolean {
  const site = headers['sec-fetch-site']
  // `same-site` is refused: a page on another port of this host is that.
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  return typeof origin === 'string' && isOwnOrigin(origin)
}

/** The value of a cookie in the header Cookie; `undefined` when it is absent. Pure. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}
