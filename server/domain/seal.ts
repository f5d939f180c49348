import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import type { Environment } from './environment.ts'

const CIPHER = 'aes-256-gcm'
/** Length of a master key and of a data key (bytes). */
export const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A key that wraps data keys. It is stored outside the database. */
export interface MasterKey {
  readonly id: string
  readonly bytes: Buffer
}

/** The location of a sealed value. A ciphertext moved to another location cannot be opened. */
export interface SealPlace {
  readonly orgId: string
  readonly serviceId: string
  readonly endpointId: string
  /** `body` or `header:` with the lower-case name. */
  readonly slot: string
}

/** A secret in its stored form. `keyId` identifies its own data key, and the API shows it (Gap G22). */
export interface SealedValue extends SealPlace {
  readonly keyId: string
  readonly masterKeyId: string
  readonly wrapNonce: Buffer
  /** The data key encrypted with the master key, with the tag at the end. */
  readonly wrappedKey: Buffer
  readonly nonce: Buffer
  /** The value encrypted with the data key, with the tag at the end. */
  readonly ciphertext: Buffer
}

/** The master key with these bytes. Its id is their hash, so that a key file needs no names. Pure. */
export function masterKeyOf(bytes: Buffer): MasterKey {
  const id = createHash('sha256').update('pharos master key').update(bytes).digest('hex').slice(0, 16)
  return { id, bytes }
}

/**
 * Seals `value` for `place` under its own data key, so that equal values never look equal and every write changes the
 * `keyId`. Contract: Sensitive values; Gap G22.
 */
export function sealValue(
  value: string,
  place: SealPlace,
  masterKey: MasterKey,
  environment: Environment,
): SealedValue {
  const keyId = environment.uuid()
  const dataKey = environment.randomBytes(KEY_BYTES)
  const nonce = environment.randomBytes(NONCE_BYTES)
  const ciphertext = encrypt(Buffer.from(value), dataKey, nonce, placeText(place))
  return { ...place, keyId, nonce, ciphertext, ...wrap(dataKey, keyId, masterKey, environment) }
}

/** The value in plain text. Throws when the master key is a different one, or when anything was moved or changed. */
export function openValue(sealed: SealedValue, masterKey: MasterKey): string {
  const dataKey = decrypt(sealed.wrappedKey, masterKey.bytes, sealed.wrapNonce, sealed.keyId)
  return decrypt(sealed.ciphertext, dataKey, sealed.nonce, placeText(sealed)).toString()
}

/** The same value under another master key; value, ciphertext and `keyId` are unchanged. */
export function rewrapValue(
  sealed: SealedValue,
  from: MasterKey,
  to: MasterKey,
  environment: Environment,
): SealedValue {
  const dataKey = decrypt(sealed.wrappedKey, from.bytes, sealed.wrapNonce, sealed.keyId)
  return { ...sealed, ...wrap(dataKey, sealed.keyId, to, environment) }
}

function wrap(dataKey: Buffer, keyId: string, masterKey: MasterKey, environment: Environment) {
  const wrapNonce = environment.randomBytes(NONCE_BYTES)
  const wrappedKey = encrypt(dataKey, masterKey.bytes, wrapNonce, keyId)
  return { masterKeyId: masterKey.id, wrapNonce, wrappedKey }
}

function placeText({ orgId, serviceId, endpointId, slot }: SealPlace): string {
  return ['v1', orgId, serviceId, endpointId, slot].join('|')
}

function encrypt(plain: Buffer, key: Buffer, nonce: Buffer, bound: string): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce)
  cipher.setAAD(Buffer.from(bound))
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(sealed: Buffer, key: Buffer, nonce: Buffer, bound: string): Buffer {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(bound))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
}
