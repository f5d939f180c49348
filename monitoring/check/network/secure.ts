import { isIP, type Socket } from 'node:net'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'
import type { AttemptClock } from '../outcome/attemptClock.ts'
import { CheckFault } from '../outcome/reason.ts'

/** HTTP/2 is not supported; a server that requires it refuses the handshake. */
const PROTOCOLS = ['http/1.1']
const NO_PROTOCOL = /NO_APPLICATION_PROTOCOL/

/**
 * Starts TLS over `socket` with the server name `host`. Certificates are not judged here, so that faulty ones are still
 * seen. No session is resumed, so that each check measures a whole handshake. Rejects with CheckFault.
 */
export function secure(
  socket: Socket,
  host: string,
  secureContext: SecureContext,
  clock: AttemptClock,
): Promise<TLSSocket> {
  return clock.wait('tls', (resolve, reject) => {
    const secured = connect({
      socket,
      secureContext,
      ALPNProtocols: PROTOCOLS,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    })
    // For its own check Node would parse the whole chain, which takes a quarter of the time of a handshake. The
    // certificate is judged elsewhere.
    Object.defineProperty(secured, 'getPeerCertificate', { value: () => ({}) })
    secured.on('error', (error: NodeJS.ErrnoException) => reject(handshakeFault(error.code ?? error.message)))
    secured.once('close', () => {
      reject(new CheckFault('tls_failed', 'the connection ended during the TLS handshake'))
    })
    secured.once('secureConnect', () => resolve(secured))
    return () => secured.destroy()
  })
}

function handshakeFault(code: string): CheckFault {
  if (NO_PROTOCOL.test(code)) return new CheckFault('alpn', 'the server does not speak HTTP/1.1 over TLS')
  return new CheckFault('tls_failed', `the TLS handshake failed (${code})`)
}
