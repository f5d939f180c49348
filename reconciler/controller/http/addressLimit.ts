import { type Bucket, fullBucket, spendToken } from '../../../api/contract/tokenBucket.ts'

/** What one address may send: ten at once, and ten a second from then on. */
const RATE = { burstRequests: 10, refillIntervalMs: 100 }
/** Most addresses that are remembered; the one that was silent for longest is forgotten first. */
const ADDRESSES_MAX = 10_000

/**
 * Whether `address` may send one more request now. Stands before everything that costs more than itself.
 * `nowMs` is a monotonic clock (milliseconds).
 */
export function addressLimit(nowMs: () => number): (address: string) => boolean {
  const buckets = new Map<string, Bucket>()
  return (address) => {
    const now = nowMs()
    const { allowed, bucket } = spendToken(buckets.get(address) ?? fullBucket(now, RATE), now, RATE)
    buckets.delete(address)
    buckets.set(address, bucket)
    const [oldest] = buckets.keys()
    if (buckets.size > ADDRESSES_MAX && oldest !== undefined) buckets.delete(oldest)
    return allowed
  }
}
