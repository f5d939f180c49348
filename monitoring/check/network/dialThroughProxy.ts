import type { Socket } from 'node:net'
import type { TunnelProxy } from '../../../api/network/proxy.ts'
import { ProxyError } from '../../../api/network/proxyError.ts'
import { openTunnel } from '../../../api/network/tunnel.ts'
import type { AttemptClock } from '../outcome/attemptClock.ts'
import { CheckFault } from '../outcome/reason.ts'
import { isForbiddenPort, literalAddress } from './addressRules.ts'
import { type DialRules, forbiddenFault } from './dial.ts'

/** A failed connection through a proxy. The message names the proxy. */
export class ProxyFault extends CheckFault {}

/**
 * Connects through `proxy` to `hostname`, in the spelling of URLs. A literal address and the port are judged as for a
 * direct connection. The proxy resolves names and decides about their addresses. Rejects with CheckFault.
 */
export function dialThroughProxy(
  proxy: TunnelProxy,
  hostname: string,
  port: number,
  clock: AttemptClock,
  { isForbidden, connectMsMax }: Pick<DialRules, 'isForbidden' | 'connectMsMax'>,
): Promise<Socket> {
  return clock.wait('connect', (resolve, reject) => {
    const literal = literalAddress(hostname)
    if (literal !== undefined && isForbidden(literal, port)) {
      reject(forbiddenFault(literal, port))
      return () => {}
    }
    if (literal === undefined && isForbiddenPort(port)) {
      reject(
        new CheckFault(
          'address_forbidden',
          `${hostname}:${port} is not allowed: it is a port of another protocol`,
        ),
      )
      return () => {}
    }
    const ending = new AbortController()
    openTunnel(proxy, hostname, port, ending.signal, connectMsMax ?? null).then(
      (socket) => {
        // The user of the socket sees an error as its end.
        socket.on('error', () => {})
        resolve(socket)
      },
      (error: Error) => reject(faultOf(error)),
    )
    return (ended) => {
      ending.abort()
      if (!(ended instanceof CheckFault)) return
      const text = `${ended.message}: the proxy ${proxy.url.host} did not respond for ${hostname}:${port}`
      reject(new ProxyFault(ended.reason, text))
    }
  })
}

/**
 * A status of 500 or more means that the proxy did not reach the host. Any other, or no response, says nothing about
 * the host.
 */
function faultOf(error: Error): ProxyFault {
  const isOfHost = error instanceof ProxyError && error.status !== undefined && error.status >= 500
  return new ProxyFault(isOfHost ? 'connect_unreachable' : 'agent_local', error.message)
}
