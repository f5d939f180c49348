import { X509Certificate } from 'node:crypto'
import { readNamedFile } from '../runtime/readNamedFile.ts'
import { type HttpsProxy, proxyOf } from './proxy.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?(?:-----END CERTIFICATE-----|$)/gs

/** How connections to a server are opened, beyond its address. */
export interface Outgoing {
  readonly proxy?: HttpsProxy | undefined
  /** Certificates of authorities (PEM) instead of those that Node trusts. */
  readonly authorities?: string | undefined
}

/**
 * The proxy of HTTPS_PROXY and NO_PROXY, and the certificates of `caFile`. Throws, with advice and without a password, for
 * an invalid proxy and a file without certificates; `caFileName` is the option or variable that named the file.
 */
export function readOutgoing(
  environment: Readonly<Record<string, string | undefined>>,
  caFile: string | undefined,
  caFileName: string,
): Outgoing {
  const proxy = proxyOf(environment)
  const authorities = caFile === undefined ? undefined : readAuthorities(caFile, caFileName)
  return { ...(proxy && { proxy }), ...(authorities && { authorities }) }
}

/** The certificates of a file (PEM). Throws when it has none: Node would then silently trust none. */
export function readAuthorities(file: string, name: string): string {
  const text = readNamedFile(file, name)
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new Error(`${file} holds no certificate (PEM): check ${name}`)
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate)
    } catch {
      throw new Error(`certificate ${index + 1} of ${file} cannot be read: check ${name}`)
    }
  }
  return text
}
