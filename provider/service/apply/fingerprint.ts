import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { formatPath } from '../../protocol/values/path.ts'
import { UNKNOWN } from '../../protocol/values/value.ts'
import type { Secret } from '../compile/compileService.ts'

/**
 * Cost of the hash (scrypt N, r, p): about 30 ms on one core, against guessing with a leaked state file. The cost is
 * stored beside each hash, so that it can be raised while old hashes remain valid.
 */
const COST = { N: 16_384, r: 8, p: 1 } as const
const SALT_BYTES = 16
const NONCE_BYTES = 16
const HASH_BYTES = 32

interface Stored {
  readonly v: 2
  readonly n: number
  readonly salt: string
  readonly nonce: string
  readonly hash: string
}

/** A slow hash with the cost `n`. */
type SlowHash = (input: string, salt: Uint8Array, n: number) => Promise<Buffer>

/** Whether secrets match a fingerprint; `never-recorded` without a fingerprint. */
export type Comparison = 'same' | 'changed' | 'unknown' | 'never-recorded'

/**
 * Creates and compares the fingerprints in private state that reveal a changed secret. A fingerprint is one salted hash
 * of all secrets of a service with their places.
 *
 * Services with equal secrets share the slow part: all fingerprints of one process have the same salt, and each slow
 * hash is computed once. A nonce for each service hides that secrets are equal.
 */
export class Fingerprints {
  readonly #salt = randomBytes(SALT_BYTES)
  /** Slow hashes by a digest of their input. */
  readonly #slow = new Map<string, Promise<Buffer>>()
  readonly #slowHashOf: SlowHash

  constructor(slowHashOf: SlowHash = scryptHash) {
    this.#slowHashOf = slowHashOf
  }

  /** The fingerprint of `secrets`; empty bytes when there are none. */
  async of(secrets: readonly Secret[]): Promise<Uint8Array> {
    if (secrets.length === 0) return new Uint8Array()
    const nonce = randomBytes(NONCE_BYTES)
    const hash = fast(await this.#slowHash(secrets, this.#salt, COST.N), nonce)
    const stored: Stored = {
      v: 2,
      n: COST.N,
      salt: this.#salt.toString('base64'),
      nonce: nonce.toString('base64'),
      hash: hash.toString('base64'),
    }
    return Buffer.from(JSON.stringify(stored))
  }

  /** Compares `secrets` with the `fingerprint` of those last sent. */
  async compare(secrets: readonly Secret[], fingerprint: Uint8Array): Promise<Comparison> {
    if (secrets.length === 0) return 'same'
    const stored = parse(fingerprint)
    if (stored === undefined) return 'never-recorded'
    if (secrets.some(({ value }) => value === UNKNOWN)) return 'unknown'
    const slow = await this.#slowHash(secrets, Buffer.from(stored.salt, 'base64'), stored.n)
    const hash = fast(slow, Buffer.from(stored.nonce, 'base64'))
    const before = Buffer.from(stored.hash, 'base64')
    return before.length === hash.length && timingSafeEqual(before, hash) ? 'same' : 'changed'
  }

  #slowHash(secrets: readonly Secret[], salt: Uint8Array, n: number): Promise<Buffer> {
    const input = JSON.stringify(secrets.map(({ path, value }) => [formatPath(path), String(value)]))
    const key = fast(Buffer.from(`${n} ${input}`), salt).toString('base64')
    const known = this.#slow.get(key) ?? this.#slowHashOf(input, salt, n)
    this.#slow.set(key, known)
    return known
  }
}

function parse(fingerprint: Uint8Array): Stored | undefined {
  if (fingerprint.length === 0) return undefined
  // True because this class wrote these bytes, perhaps with key ids (sealedKeys.ts).
  const stored = JSON.parse(Buffer.from(fingerprint).toString()) as Stored
  return stored.v === 2 ? stored : undefined
}

function fast(input: Uint8Array, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(input).digest()
}

/** The slow hash: scrypt. */
export const scryptHash: SlowHash = (input, salt, n) =>
  new Promise((resolve, reject) => {
    scrypt(input, salt, HASH_BYTES, { ...COST, N: n, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
