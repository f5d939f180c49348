import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { TunnelProxy } from './proxy.ts'
import { brokenTunnel, refusedTunnel } from './proxyError.ts'

/** How long a proxy may take to connect (milliseconds). */
const TUNNEL_MS_MAX = 10_000

/** A connection through `proxy` to `host`. Rejects with ProxyError, also when `signal` aborts, and after `msMax` if it is given. */
export function openTunnel(
  proxy: TunnelProxy,
  host: string,
  port: number,
  signal?: AbortSignal,
  msMax: number | null = TUNNEL_MS_MAX,
): Promise<Socket> {
  const { url, authorization } = proxy
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
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(options)
    const abort = (): void => void request.destroy(new Error('stopped'))
    const deadline =
      msMax === null
        ? undefined
        : setTimeout(() => request.destroy(new Error(`no response within ${msMax / 1_000} s`)), msMax)
    const ended = (): void => {
      clearTimeout(deadline)
      signal?.removeEventListener('abort', abort)
    }
    signal?.addEventListener('abort', abort, { once: true })
    request.on('connect', ({ statusCode = 0 }, socket, head) => {
      ended()
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      } else {
        socket.destroy()
        reject(refusedTunnel(proxy, target, statusCode))
      }
    })
    request.on('error', (error: Error & { code?: string }) => {
      ended()
      reject(brokenTunnel(proxy, error.code ?? error.message))
    })
    request.end()
    if (signal?.aborted === true) abort()
  })
}
