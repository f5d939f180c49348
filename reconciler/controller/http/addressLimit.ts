import { type Bucket, fullBucket, spendToken } from '../../../api/contract/tokenBucket.ts'

/** Invalid requests allowed for one address: ten at once, and ten a second. */
const RATE = { burstRequests: 10, refillIntervalMs: 100 }
/** Maximum of recorded addresses; the least recently used is dropped first. */
const ADDRESSES_MAX = 10_000

/**
 * Limits requests without valid credentials by their addresses. Valid requests are neither counted nor refused, because all
 * senders behind a proxy share one address.
 */
export type WrongRequests = ReturnType<typeof wrongRequests>

/** Counts invalid requests. `nowMs` is a monotonic clock (milliseconds). */
export function wrongRequests(nowMs: () => number) {
  const buckets = new Map<string, Bucket>()
  const spent = (address: string) => {
    const now = nowMs()
    return spendToken(buckets.get(address) ?? fullBucket(now, RATE), now, RATE)
  }
  return {
    /** Counts a request; false when there are too many. */
    count: (address: string): boolean => {
      const { allowed, bucket } = spent(address)
      buckets.delete(address)
      buckets.set(address, bucket)
      const [oldest] = buckets.keys()
      if (buckets.size > ADDRESSES_MAX && oldest !== undefined) buckets.delete(oldest)
      return allowed
    },
    /** Whether another request would be too many. */
    areTooMany: (address: string): boolean => !spent(address).allowed,
  }
}
