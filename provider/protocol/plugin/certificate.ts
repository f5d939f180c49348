/**
 * The one-shot certificate of an AutoMTLS connection: self-signed, ECDSA P-256, for the name `localhost`.
 *
 * The DER is written by hand: a certificate is created at every start, and loading a library for it would take longer
 * than the rest of the start. The key never leaves the process.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

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
  publicKey: 0xa1,
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
/** Without a regular expression, which V8 would compile at each start. */
const time = (ms: number): Buffer => {
  const iso = new Date(ms).toISOString()
  const parts = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10), iso.slice(11, 13), iso.slice(14, 16)]
  return der(TAG.generalizedTime, Buffer.from(`${parts.join('')}${iso.slice(17, 19)}Z`))
}

const EC_P256 = der(TAG.sequence, oid('2a8648ce3d0201'), oid('2a8648ce3d030107'))
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
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { point, scalar } = keyNumbers(privateKey)
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.utf8String, Buffer.from('localhost')))),
  )
  // Go requires a positive serial number, hence the leading 01. The rest is random because the key is.
  const serial = Buffer.concat([Buffer.from([1]), point.subarray(1, 16)])
  const names = der(TAG.octetString, der(TAG.sequence, DNS_LOCALHOST))
  const toBeSigned = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial),
    ECDSA_WITH_SHA256,
    name,
    der(TAG.sequence, time(nowMs - VALID_BEFORE_MS), time(nowMs + VALID_AFTER_MS)),
    name,
    der(TAG.sequence, EC_P256, bitString(point)),
    der(TAG.extensions, der(TAG.sequence, der(TAG.sequence, SUBJECT_ALT_NAME, names))),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const certificate = der(TAG.sequence, toBeSigned, ECDSA_WITH_SHA256, bitString(signature))
  return {
    certificate,
    certificatePem: toPem(certificate),
    privateKeyPem: toPem(privateKeyInfo(scalar, point), 'PRIVATE KEY'),
  }
}

/** The numbers of a P-256 key. OpenSSL exports them faster than in its own encodings. */
function keyNumbers(key: KeyObject): { readonly point: Buffer; readonly scalar: Buffer } {
  const { x = '', y = '', d = '' } = key.export({ format: 'jwk' })
  const uncompressed = Buffer.from([4])
  return {
    point: Buffer.concat([uncompressed, Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]),
    scalar: Buffer.from(d, 'base64url'),
  }
}

/** The PKCS #8 form of a private key. */
function privateKeyInfo(scalar: Uint8Array, point: Uint8Array): Buffer {
  const key = der(
    TAG.sequence,
    der(TAG.integer, Buffer.from([1])),
    der(TAG.octetString, scalar),
    der(TAG.publicKey, bitString(point)),
  )
  return der(TAG.sequence, der(TAG.integer, Buffer.from([0])), EC_P256, der(TAG.octetString, key))
}

/** DER as PEM. */
export function toPem(bytes: Buffer, label = 'CERTIFICATE'): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
