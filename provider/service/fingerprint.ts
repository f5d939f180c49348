import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { formatPath } from '../protocol/values/path.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Secret } from './compile.ts'

/**
 * Cost of the hash (scrypt N, r, p): some 30 ms on one core, so that a leaked state file is no oracle for
 * guessing. Stored beside each hash, so that it can be raised without forgetting the old ones.
 */
const COST = { N: 16_384, r: 8, p: 1 } as const
const SALT_BYTES = 16
const HASH_BYTES = 32

interface Stored {
  readonly v: 1
  readonly n: number
  readonly salt: string
  readonly hash: string
}

/** Whether secrets are those that a fingerprint was made of; `never-recorded` when there is no fingerprint. */
export type Comparison = 'same' | 'changed' | 'unknown' | 'never-recorded'

/**
 * What is kept beside the state to notice a changed secret: one salted scrypt hash of all secrets with their
 * places. Empty bytes when there are none.
 */
export async function fingerprintOf(secrets: readonly Secret[]): Promise<Uint8Array> {
  if (secrets.length === 0) return new Uint8Array()
  const salt = randomBytes(SALT_BYTES)
  const hash = await hashOf(secrets, salt, COST.N)
  const stored: Stored = { v: 1, n: COST.N, salt: salt.toString('base64'), hash: hash.toString('base64') }
  return Buffer.from(JSON.stringify(stored))
}

/** Compares `secrets` with the `fingerprint` of those that were sent last. */
export async function compareSecrets(
  secrets: readonly Secret[],
  fingerprint: Uint8Array,
): Promise<Comparison> {
  if (secrets.length === 0) return 'same'
  const stored = parse(fingerprint)
  if (stored === undefined) return 'never-recorded'
  if (secrets.some(({ value }) => value === UNKNOWN)) return 'unknown'
  const hash = await hashOf(secrets, Buffer.from(stored.salt, 'base64'), stored.n)
  const before = Buffer.from(stored.hash, 'base64')
  return before.length === hash.length && timingSafeEqual(before, hash) ? 'same' : 'changed'
}

function parse(fingerprint: Uint8Array): Stored | undefined {
  if (fingerprint.length === 0) return undefined
  // True because these bytes come back from where fingerprintOf put them: nothing else writes private state.
  const stored = JSON.parse(Buffer.from(fingerprint).toString()) as Stored
  return stored.v === 1 ? stored : undefined
}

function hashOf(secrets: readonly Secret[], salt: Uint8Array, n: number): Promise<Buffer> {
  const input = JSON.stringify(secrets.map(({ path, value }) => [formatPath(path), String(value)]))
  return new Promise((resolve, reject) => {
    scrypt(input, salt, HASH_BYTES, { ...COST, N: n, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}
