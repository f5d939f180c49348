import type { Server } from 'node:http'
import type { Server as TlsHttpServer } from 'node:https'
import { Server as TlsServer } from 'node:tls'

/** A certificate chain and its private key (PEM). */
export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

/** A certificate that may be replaced while servers use it. */
export interface CertificateSource {
  readonly current: () => Certificate
  /** Calls `listener` with each later certificate. */
  readonly onChange: (listener: (certificate: Certificate) => void) => void
}

/** Gives new connections to `server` each later certificate of `source`. Old connections keep theirs. */
export function followCertificate(
  server: Server | TlsHttpServer,
  source: CertificateSource | undefined,
): void {
  if (source === undefined || !(server instanceof TlsServer)) return
  source.onChange((certificate) => server.setSecureContext({ ...certificate }))
}
