import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { HIDDEN } from '../../assertions/quotedText.ts'
import { CheckFault } from '../outcome/reason.ts'

/** Maximum number of certificates in the cache of verdicts on names. */
const KNOWN_MAX = 10_000
/** Maximum length of a chain that is examined, because a server may send any number of certificates. */
const CHAIN_MAX = 10

/** The certificate that a server presented for a host. */
export interface SeenCertificate {
  readonly host: string
  readonly port: number
  readonly fingerprint: string
  readonly subject: string
  readonly issuer: string
  readonly serial: string
  /** Milliseconds since the epoch. */
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** The earliest expiry of the certificate and the intermediate ones that were sent with it. Roots are ignored. */
  readonly chainNotAfterMs: number
}

interface KnownCertificate {
  readonly seen: Omit<SeenCertificate, 'port'>
  readonly isForHost: boolean
}

const EXPIRED = 'CERT_HAS_EXPIRED'
const NOT_YET_VALID = 'CERT_NOT_YET_VALID'
const UNTRUSTED_WORDS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'comes from an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT: 'comes without the certificate of its issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'comes without the certificate of its issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'comes without the intermediate certificates',
  // A fault that Node has no name for.
  UNSPECIFIED: 'is not trusted, usually because a signature or a key of its chain is too weak, such as SHA-1',
}

/** The name that a certificate must be for, and the name to show, which differs when the first one is secret. */
interface CheckedName {
  readonly name: string
  readonly shownName: string
}

/**
 * Judges certificates by names. A certificate is parsed only once for each host, because parsing takes a third of the
 * time of a handshake.
 */
export class CertificateJudge {
  readonly #known = new Map<string, KnownCertificate>()

  /** The certificate of `socket` after its handshake, and the certificate's fault. */
  judge(
    socket: TLSSocket,
    { name: host, shownName }: CheckedName,
    port: number,
  ): { readonly certificate?: SeenCertificate; readonly fault?: CheckFault } {
    const x509 = socket.getPeerX509Certificate()
    if (x509 === undefined)
      return { fault: new CheckFault('tls_failed', 'the server presented no certificate') }
    const key = `${x509.fingerprint256} ${host}`
    const known = this.#known.get(key) ?? this.#read(key, x509, host)
    const isShown = host === shownName
    // The subject usually is the name.
    const hidden = isShown ? {} : { host: shownName, subject: HIDDEN }
    const certificate = { ...known.seen, ...hidden, port }
    const error = socket.authorized ? undefined : String(socket.authorizationError)
    if (error !== undefined) return { certificate, fault: chainFault(error, certificate) }
    if (known.isForHost) return { certificate }
    const about = isShown ? host : 'the sealed Host'
    return { certificate, fault: new CheckFault('certificate_name', `the certificate is not for ${about}`) }
  }

  #read(key: string, x509: X509Certificate, host: string): KnownCertificate {
    const known = {
      seen: {
        host,
        fingerprint: x509.fingerprint256,
        subject: nameOf(x509.subject),
        issuer: nameOf(x509.issuer),
        serial: x509.serialNumber,
        notBeforeMs: Date.parse(x509.validFrom),
        notAfterMs: Date.parse(x509.validTo),
        chainNotAfterMs: chainEndMs(x509),
      },
      isForHost: isIP(host) === 0 ? x509.checkHost(host) !== undefined : x509.checkIP(host) !== undefined,
    }
    const [oldest] = this.#known.size >= KNOWN_MAX ? this.#known.keys() : []
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(key, known)
    return known
  }
}

/** A name of a certificate; empty when it is absent, as the subject may be. Node's types do not say so. */
function nameOf(name: string | undefined): string {
  return name ?? ''
}

function chainEndMs(leaf: X509Certificate): number {
  let endMs = Date.parse(leaf.validTo)
  let certificate = leaf.issuerCertificate
  for (let length = 1; certificate !== undefined && length < CHAIN_MAX; length += 1) {
    if (certificate.checkIssued(certificate)) break
    const ownEndMs = Date.parse(certificate.validTo)
    // A server may send any bytes, also without a readable date.
    if (ownEndMs < endMs) endMs = ownEndMs
    certificate = certificate.issuerCertificate
  }
  return endMs
}

function chainFault(
  error: string,
  { notBeforeMs, notAfterMs, chainNotAfterMs }: SeenCertificate,
): CheckFault {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  if (error === EXPIRED) {
    return notAfterMs === chainNotAfterMs
      ? new CheckFault('certificate_expired', `certificate expired on ${day(notAfterMs)}`)
      : new CheckFault('certificate_expired', `a certificate of the chain expired on ${day(chainNotAfterMs)}`)
  }
  if (error === NOT_YET_VALID)
    return new CheckFault('certificate_not_yet_valid', `certificate is valid from ${day(notBeforeMs)}`)
  return new CheckFault(
    'certificate_untrusted',
    `certificate ${UNTRUSTED_WORDS[error] ?? `is not trusted (${error})`}`,
  )
}
