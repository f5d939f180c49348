/** Who may connect to a plugin. */
import { ServerCredentials } from '@grpc/grpc-js'
import type { OneShotCertificate } from './certificate.ts'

/** How clients are recognised: by TLS with exactly one certificate, or not at all. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'mutualTls'; readonly clientCertificate: string; readonly own: OneShotCertificate }

/** Credentials with which the gRPC server accepts the clients that `access` names, and no others. */
export function credentialsFor(access: Access): ServerCredentials {
  if (access.kind === 'open') return ServerCredentials.createInsecure()
  return ServerCredentials.createSsl(
    Buffer.from(access.clientCertificate),
    [
      {
        private_key: Buffer.from(access.own.privateKeyPem),
        cert_chain: Buffer.from(access.own.certificatePem),
      },
    ],
    true,
  )
}
