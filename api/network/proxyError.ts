import type { TunnelProxy } from './proxy.ts'

/** A proxy did not connect. The message names it and never its password; `hint` is what to do. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly hint: string
  /** Whether another attempt would fail too. */
  readonly isFinal: boolean
  /** The status of the proxy's response; `undefined` without one. */
  readonly status: number | undefined

  constructor(
    message: string,
    { hint, isFinal, status }: { readonly hint: string; readonly isFinal: boolean; readonly status?: number },
  ) {
    super(message)
    this.hint = hint
    this.isFinal = isFinal
    this.status = status
  }
}

/** The error of a proxy that responded with `status` instead of connecting to `target`, host:port. Pure. */
export function refusedTunnel(
  { url, variable, authorization }: TunnelProxy,
  target: string,
  status: number,
): ProxyError {
  const name = `the proxy ${url.host}`
  if (status === 407) {
    const hint =
      authorization === undefined
        ? `it wants a user name and a password: write http://user:password@host:port in ${variable}`
        : `it refuses the user name or password in ${variable}`
    return new ProxyError(`${name} responded with 407`, { hint, isFinal: true, status })
  }
  const message = `${name} responded with ${status} for ${target}`
  return status >= 500
    ? new ProxyError(message, {
        hint: `check that it can reach ${target}, or name the host in NO_PROXY`,
        isFinal: false,
        status,
      })
    : new ProxyError(message, {
        hint: 'allow the connection there, or name the host in NO_PROXY',
        isFinal: true,
        status,
      })
}

/** The error of a connection to a proxy that failed with `reason`, a code. Pure. */
export function brokenTunnel({ url, variable }: TunnelProxy, reason: string): ProxyError {
  const name = `the proxy ${url.host}`
  // Another protocol than HTTP, or than TLS.
  if (/^(?:HPE_|EPROTO|ERR_SSL|ERR_TLS)/.test(reason)) {
    const hint = `check ${variable}: scheme, host and port`
    return new ProxyError(`${name} did not respond as a proxy (${reason})`, { hint, isFinal: true })
  }
  const hint = `check ${variable}, and that the proxy runs`
  return new ProxyError(`${name} did not connect (${reason})`, { hint, isFinal: false })
}
