import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { HttpsProxy } from './proxy.ts'

/** How long a proxy may take to connect (milliseconds). */
const TUNNEL_MS_MAX = 20_000

/**
 * A proxy did not connect. `hint` is the remedy where another attempt does not help; `undefined` where it may. Neither has a
 * password.
 */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** A connection through `proxy` to `host`. Rejects with ProxyError. */
export function openTunnel(proxy: HttpsProxy, host: string, port: number): Promise<Socket> {
  const { url, authorization } = proxy
  const name = `the proxy ${url.host}`
  const target = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
  const options: RequestOptions = {
    method: 'CONNECT',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
    path: target,
    headers: { host: target, ...(authorization && { 'proxy-authorization': authorization }) },
    // Its connection is the tunnel.
    agent: false,
  }
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = start(options)
    const deadline = setTimeout(
      () => request.destroy(new Error(`no answer within ${TUNNEL_MS_MAX / 1_000} s`)),
      TUNNEL_MS_MAX,
    )
    request.on('connect', ({ statusCode = 0 }, socket, head) => {
      clearTimeout(deadline)
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      } else {
        socket.destroy()
        reject(refusal(statusCode, name, target, authorization !== undefined))
      }
    })
    // Some refuse with an answer instead.
    request.on('response', (response) => {
      clearTimeout(deadline)
      response.destroy()
      reject(refusal(response.statusCode ?? 0, name, target, authorization !== undefined))
    })
    request.on('error', (error: Error & { code?: string }) => {
      clearTimeout(deadline)
      const reason = error.code ?? error.message
      reject(
        reason.startsWith('HPE_') || reason.startsWith('ERR_SSL')
          ? new ProxyError(
              `${name} did not answer as one (${reason})`,
              'check HTTPS_PROXY: scheme, host and port',
            )
          : new ProxyError(`${name} cannot be reached (${reason})`),
      )
    })
    request.end()
  })
}

function refusal(status: number, name: string, target: string, hasLogin: boolean): ProxyError {
  if (status === 407) {
    return new ProxyError(
      `${name} answered 407`,
      hasLogin
        ? 'it refuses the user name or password in HTTPS_PROXY'
        : 'it wants a user name and a password: write http://user:password@host:port in HTTPS_PROXY',
    )
  }
  const message = `${name} answered ${status} for ${target}`
  return status >= 500
    ? new ProxyError(message)
    : new ProxyError(message, 'allow the connection there, or name the host in NO_PROXY')
}
