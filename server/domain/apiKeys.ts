import { hash } from 'node:crypto'
import { API_KEY_PREFIX } from '../../api/contract/apiKey.ts'
import type { Scope } from '../../api/contract/org.ts'
import type { Environment } from './environment.ts'

/** Random bytes of a key. Contract: Authentication, rule 2. */
const KEY_BYTES = 32

/** Who calls: a key that is not revoked, and what its organisation may do at this instant. */
export interface Caller {
  readonly keyId: string
  /** Last four characters of the key: enough to tell keys apart, not enough to use one. */
  readonly keyLast4: string
  readonly scope: Scope
  readonly orgId: string
  readonly orgName: string
  readonly plan: string
  /** Whether the organisation's plan includes the API. Contract: Authentication, rule 6. */
  readonly hasApiAccess: boolean
}

/** A new key in clear: shown once, stored only as its hash. Contract: Authentication, rule 4. */
export function mintKey(environment: Environment): string {
  return `${API_KEY_PREFIX}${environment.randomBytes(KEY_BYTES).toString('hex')}`
}

/**
 * The stored form of a key. A key is 256 random bits, so that a slow hash would protect nothing and cost
 * every request. Case is kept as received. Pure.
 */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
