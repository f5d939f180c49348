import { type Bucket, fullBucket, spendToken } from '../../../api/contract/tokenBucket.ts'

/** Invalid requests allowed for one address: ten at once, and ten a second. */
const RATE = { burstRequests: 10, refillIntervalMs: 100 }
/** Maximum of recorded addresses; the least recently used is dropped first. */
const ADDRESSES_MAX = 10_000

/**
 * Limits requests without valid credentials by their addresses. Valid requests are neither counted nor refused, because all
 * senders behind a proxy share one address.
 */
export interface WrongRequests {
  /** Counts a request; false when there are too many. */
  readonly count: (address: string) => boolean
  /** Whether another request would be too many. */
  readonly areTooMany: (address: string) => boolean
}

/** Counts invalid requests. `nowMs` is a monotonic clock (milliseconds). */
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
