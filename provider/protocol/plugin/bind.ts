/** Opens the socket of a plugin's server. */
import { ServerCredentials } from '@grpc/grpc-js'
import type { OneShotCertificate } from './certificate.ts'
import type { PluginAddress } from './environment.ts'
import type { PluginServer } from './server.ts'
import { chooseTarget } from './socket.ts'

/** How clients are recognised: by TLS with exactly one certificate, or not at all. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'mutualTls'; readonly clientCertificate: string; readonly own: OneShotCertificate }

function credentialsFor(access: Access): ServerCredentials {
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

/** An open socket. */
export interface Bound {
  readonly address: PluginAddress
  /** Removes what the socket left in the file system. */
  remove(): void
}

/** Listens below `socketDirectory`. Resolves when connections are accepted; rejects when none can be. */
export function bind(
  { server }: PluginServer,
  socketDirectory: string | undefined,
  access: Access,
): Promise<Bound> {
  const { target, socketPath, remove } = chooseTarget(socketDirectory)
  return new Promise((resolve, reject) => {
    server.bindAsync(target, credentialsFor(access), (error, port) => {
      if (error !== null) {
        remove()
        reject(new Error(`cannot listen on ${target}`, { cause: error }))
        return
      }
      const address: PluginAddress =
        socketPath === undefined
          ? { network: 'tcp', address: `127.0.0.1:${port}` }
          : { network: 'unix', address: socketPath }
      resolve({ address, remove })
    })
  })
}
