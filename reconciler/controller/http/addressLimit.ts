import { type Bucket, fullBucket, spendToken } from '../../../api/contract/tokenBucket.ts'

/** What one address may get wrong: ten at once, and ten a second from then on. */
const RATE = { burstRequests: 10, refillIntervalMs: 100 }
/** Most addresses that are remembered; the one that was silent for longest is forgotten first. */
const ADDRESSES_MAX = 10_000

/**
 * Requests that prove nothing, by the address that sent them. Those that are right are not counted, and never refused
 * for others': all senders behind a proxy have one address.
 */
export interface WrongRequests {
  /** Counts one more; false when there are too many. */
  readonly count: (address: string) => boolean
  /** Whether one more would be too many. */
  readonly areTooMany: (address: string) => boolean
}

/** Counts wrong requests. `nowMs` is a monotonic clock (milliseconds). */
export function wrongRequests(nowMs: () => number): WrongRequests {
  const buckets = new Map<string, Bucket>()
  const spent = (address: string) => {
    const now = nowMs()
    return spendToken(buckets.get(address) ?? fullBucket(now, RATE), now, RATE)
  }
  return {
    count: (address) => {
      const { allowed, bucket } = spent(address)
      buckets.delete(address)
      buckets.set(address, bucket)
      const [oldest] = buckets.keys()
      if (buckets.size > ADDRESSES_MAX && oldest !== undefined) buckets.delete(oldest)
      return allowed
    },
    areTooMany: (address) => !spent(address).allowed,
  }
}
