import * as crypto from 'node:crypto'
import { API_KEY_PREFIX } from '../../api/contract/apiKey.ts'
import type { Scope } from '../../api/contract/org.ts'
import type { Environment } from './environment.ts'

/** Number of random bytes in a key. Contract: Authentication, rule 2. */
const KEY_BYTES = 32

/** The caller of a request: a key that is not revoked, with the current rights of its organisation. */
export interface Caller {
  readonly keyId: string
  /** Last four characters of the key: enough to recognise it, not enough to use it. */
  readonly keyLast4: string
  readonly scope: Scope
  readonly orgId: string
  readonly orgName: string
  readonly plan: string
  /** Whether the organisation's plan includes the API. Contract: Authentication, rule 6. */
  readonly hasApiAccess: boolean
}

/** A new key in plain text, which is shown once and stored only as its hash. Contract: Authentication, rule 4. */
export function mintKey(environment: Environment): string {
  return `${API_KEY_PREFIX}${environment.randomBytes(KEY_BYTES).toString('hex')}`
}

/**
 * The stored form of a key. A key is 256 random bits, so a slow hash would add no protection and slow down every
 * request. Case is preserved. Pure.
 */
export function hashKey(key: string): Buffer {
  return crypto.hash('sha256', key, 'buffer')
}

/** A new key in plain text, with its id and stored form. */
export function newKey(environment: Environment) {
  const key = mintKey(environment)
  return { key, id: environment.uuid(), hash: hashKey(key), last4: key.slice(-4) }
}
