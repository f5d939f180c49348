import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/**
 * Secrets on their way to an agent are sealed to a session between the agent's key pair, which is new at each start,
 * and one of the server. TLS is still required. Sealing keeps plain values out of proxies and logs of bodies.
 */
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SALT_BYTES = 32
/** The purpose of the session's key. */
const PURPOSE = 'pharos agent v1'

/** The location of a sealed value. A value moved to another location cannot be opened. */
export interface SessionPlace {
  readonly org: string
  readonly service: string
  readonly endpoint: string
  /** `body`, or `header:` with the name in lower case. */
  readonly slot: string
}

/** A key pair of one side. The public key is in the form that is sent: base64 of 32 bytes. */
export interface SessionKeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: string
}

/** The server's part of a session. */
export interface SessionOffer {
  readonly public_key: string
  readonly salt: string
}

/** Creates a key pair. */
export function makeKeyPair(): SessionKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  return { privateKey, publicKey: Buffer.from(x, 'base64url').toString('base64') }
}

/** Starts a session with the agent that has this public key. Throws when the key is invalid. */
export function offerSession(agentPublicKey: string): { readonly offer: SessionOffer; readonly key: Buffer } {
  const own = makeKeyPair()
  const offer = { public_key: own.publicKey, salt: randomBytes(SALT_BYTES).toString('base64') }
  return { offer, key: sessionKey(own.privateKey, agentPublicKey, { agentPublicKey, offer }) }
}

/**
 * The key of the session that the server offered to the agent with the key pair `own`. Throws when the public key in
 * `offer` is invalid.
 */
export function acceptSession(own: SessionKeyPair, offer: SessionOffer): Buffer {
  return sessionKey(own.privateKey, offer.public_key, { agentPublicKey: own.publicKey, offer })
}

function sessionKey(
  privateKey: KeyObject,
  otherPublicKey: string,
  { agentPublicKey, offer }: { readonly agentPublicKey: string; readonly offer: SessionOffer },
): Buffer {
  const publicKey = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'X25519', x: Buffer.from(otherPublicKey, 'base64').toString('base64url') },
  })
  const shared = diffieHellman({ privateKey, publicKey })
  const purpose = [PURPOSE, agentPublicKey, offer.public_key].join('|')
  return Buffer.from(hkdfSync('sha256', shared, Buffer.from(offer.salt, 'base64'), purpose, KEY_BYTES))
}

/** `plain` sealed for this session and location: base64 of nonce, ciphertext and tag. */
export function sealForSession(key: Buffer, place: SessionPlace, plain: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  cipher.setAAD(placeBytes(place))
  return Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  )
}

/** The plain value. Throws when it was sealed for another session or location, or changed. */
export function openFromSession(key: Buffer, place: SessionPlace, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(placeBytes(place))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([
    decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)),
    decipher.final(),
  ]).toString()
}

function placeBytes({ org, service, endpoint, slot }: SessionPlace): Buffer {
  return Buffer.from([org, service, endpoint, slot].join('|'))
}
