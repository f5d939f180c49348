/** Access control for connections to a plugin. */
import { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer } from 'node:tls'
import type { OneShotCertificate } from './certificate.ts'

/** Authentication of clients: TLS with exactly one certificate, or none. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'mutualTls'; readonly clientCertificate: string; readonly own: OneShotCertificate }

/**
 * Returns a function that passes connections of permitted clients to `serve`, and closes others. Throws when the
 * certificate of the client cannot be parsed.
 */
export function admit(access: Access, serve: (connection: Duplex) => void): (connection: Socket) => void {
  if (access.kind === 'open') return serve
  const expected = new X509Certificate(access.clientCertificate).raw
  const listener = createServer(
    {
      key: access.own.privateKeyPem,
      cert: access.own.certificatePem,
      // Trusting no CA stops Node from loading its default ones, which would take longer than everything else here. The
      // client's certificate is compared with the only permitted one instead.
      ca: [],
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
      // Sessions are not resumed. The default is a digest of the command line.
      sessionIdContext: 'plugin',
      minVersion: 'TLSv1.2',
    },
    (connection) => {
      const given = connection.getPeerX509Certificate()?.raw
      // Errors of a refused client are irrelevant.
      connection.on('error', () => undefined)
      if (given?.equals(expected)) serve(connection)
      else connection.destroy()
    },
  )
  return (connection) => void listener.emit('connection', connection)
}
