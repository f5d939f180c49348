import { createHash, createHmac } from 'node:crypto'
import { ApiError } from '../../../api/contract/apiError.ts'
import type { CreationFingerprint } from '../../store/store.ts'
import type { Exchange } from './operation.ts'

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/**
 * The stored form of a creation's Idempotency-Key; `undefined` without one. Throws `invalid` when the key is not 1 to
 * 255 visible ASCII characters. `operation` separates a key for a service from the same key for an incident. `request`
 * is the parsed body. Gap G20.
 */
export function creationFingerprint(
  exchange: Exchange,
  operation: string,
  request: unknown,
): CreationFingerprint | undefined {
  const key = exchange.header('idempotency-key')
  if (key === undefined) return undefined
  if (!VISIBLE_ASCII.test(key)) {
    throw new ApiError('invalid', 'Idempotency-Key: must be 1 to 255 visible ASCII characters')
  }
  const fingerprintOf = (body: unknown): Buffer =>
    createHmac('sha256', key).update(JSON.stringify(body)).digest()
  return {
    keyHash: createHash('sha256').update(`${operation} ${key}`).digest(),
    bodyFingerprint: fingerprintOf(sortMembers(request)),
    earlierBodyFingerprint: () => fingerprintOf(exchange.body),
  }
}

/** `value` with the members of every object sorted, because their order has no meaning in JSON (RFC 8259). Pure. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, sortMembers(member)] as const)
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)))
}
