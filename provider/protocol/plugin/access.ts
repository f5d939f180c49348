/** Who may connect to a plugin. */
import { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer } from 'node:tls'
import type { OneShotCertificate } from './certificate.ts'

/** How clients are recognised: by TLS with exactly one certificate, or not at all. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'mutualTls'; readonly clientCertificate: string; readonly own: OneShotCertificate }

/**
 * A function that gives `serve` the connections of the clients that `access` names, and closes the others.
 *
 * Throws when the certificate of the client cannot be read.
 */
export function admit(access: Access, serve: (connection: Duplex) => void): (connection: Socket) => void {
  if (access.kind === 'open') return serve
  const expected = new X509Certificate(access.clientCertificate).raw
  const listener = createServer(
    {
      key: access.own.privateKeyPem,
      cert: access.own.certificatePem,
      // No authority is trusted, and Node does not load those of the public, which takes it longer than all the rest here: the
      // client has the key of exactly one certificate, which is compared instead.
      ca: [],
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
      // Nothing is resumed. The default is a digest of the command line.
      sessionIdContext: 'plugin',
      minVersion: 'TLSv1.2',
    },
    (connection) => {
      const given = connection.getPeerX509Certificate()?.raw
      // A client that is closed while it is refused has nothing more to say.
      connection.on('error', () => undefined)
      if (given?.equals(expected)) serve(connection)
      else connection.destroy()
    },
  )
  return (connection) => void listener.emit('connection', connection)
}
