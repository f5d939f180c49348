/**
 * The one-shot certificate of an AutoMTLS connection: self-signed, ECDSA P-256, for the name `localhost`.
 *
 * The DER is written by hand: a certificate is created at every start, and loading a library for it would take longer
 * than the rest of the start. The key never leaves the process.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
} as const

/** A DER element: tag, length, contents. Lengths up to 65535 bytes, far beyond any certificate here. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  const { length } = body
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const oid = (hex: string): Buffer => der(TAG.oid, Buffer.from(hex, 'hex'))
/** A bit string that uses all bits of its last byte. */
const bitString = (bits: Uint8Array): Buffer => der(TAG.bitString, Buffer.from([0]), bits)
const time = (ms: number): Buffer =>
  der(TAG.generalizedTime, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')))

const ECDSA_WITH_SHA256 = der(TAG.sequence, oid('2a8648ce3d040302'))
const COMMON_NAME = oid('550403')
const SUBJECT_ALT_NAME = oid('551d11')
/** GeneralName of type dNSName. Terraform verifies this name and ignores the common name. */
const DNS_LOCALHOST = der(0x82, Buffer.from('localhost'))

/**
 * The validity that go-plugin uses. It starts slightly in the past, because clocks differ, and ends far in the future.
 */
const VALID_BEFORE_MS = 30_000
const VALID_AFTER_MS = 30 * 365 * 24 * 3_600_000

export interface OneShotCertificate {
  readonly certificatePem: string
  readonly privateKeyPem: string
  /** The certificate's DER. */
  readonly certificate: Buffer
}

/** A new key pair with its certificate. `nowMs` is the current time (milliseconds since the epoch). */
export function createCertificate(nowMs: number): OneShotCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.utf8String, Buffer.from('localhost')))),
  )
  // Go requires a positive serial number, hence the leading 01.
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)])
  const names = der(TAG.octetString, der(TAG.sequence, DNS_LOCALHOST))
  const toBeSigned = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial),
    ECDSA_WITH_SHA256,
    name,
    der(TAG.sequence, time(nowMs - VALID_BEFORE_MS), time(nowMs + VALID_AFTER_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, der(TAG.sequence, der(TAG.sequence, SUBJECT_ALT_NAME, names))),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const certificate = der(TAG.sequence, toBeSigned, ECDSA_WITH_SHA256, bitString(signature))
  return {
    certificate,
    certificatePem: toPem(certificate),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** A certificate's DER as PEM. */
export function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
