import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../../api/contract/apiError.ts'
import type { CreationFingerprint } from '../store.ts'

/** Retention of the response to a creation with an Idempotency-Key (milliseconds). Gap G20. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** Size from which a response counts as long (bytes). */
export const LONG_RESPONSE_BYTES = 16 * 1_024
/**
 * Maximum total size of the newest long responses of an organisation (bytes): a key may request 200 GB a day. Gap G20.
 */
export const LONG_RESPONSES_BYTES_MAX = 1_024 * 1_024 * 1_024

/** Maximum number of short responses stored for an organisation, the newest; at most another GiB in total. Gap G20. */
export const SHORT_RESPONSES_MAX = 65_536

/** The stored response of a creation. */
export interface StoredCreation {
  readonly bodyFingerprint: Buffer
  readonly response: string
  readonly createdAtMs: number
}

/**
 * The stored response to a repeated creation; `undefined` when the creation is new. Throws `invalid` when the key was
 * used for another body.
 */
export function storedResponse(
  earlier: StoredCreation | undefined,
  fingerprint: CreationFingerprint,
  nowMs: number,
): string | undefined {
  if (earlier === undefined || nowMs - earlier.createdAtMs >= IDEMPOTENCY_MS) return undefined
  const isSameBody =
    timingSafeEqual(earlier.bodyFingerprint, fingerprint.bodyFingerprint) ||
    timingSafeEqual(earlier.bodyFingerprint, fingerprint.earlierBodyFingerprint())
  if (isSameBody) return earlier.response
  throw new ApiError('invalid', 'Idempotency-Key: was already used for another body')
}
