import {
  BURST_REQUESTS,
  type Bucket,
  type BucketRate,
  CONTRACT_RATE,
  fullBucket,
  REFILL_INTERVAL_MS,
  refill,
  spendToken,
} from '../../api/contract/tokenBucket.ts'
import type { Allowance } from '../domain/allowance.ts'

/** Spends a token of the key with this id. A shared limiter has no other operation. */
export type SpendRequest = (keyId: string) => Promise<Allowance> | Allowance

/** Number of buckets in memory from which full ones are dropped, because they carry no information. */
const BUCKETS_KEPT = 10_000

/**
 * A limiter for one process, with a bucket for each key. It uses a monotonic clock (`monotonicMs`, milliseconds), so
 * that a change of the wall clock changes no allowance. Contract: Limits, rule 1; Gap G21.
 */
export function keyBuckets(monotonicMs: () => number, rate: BucketRate = CONTRACT_RATE): SpendRequest {
  const buckets = new Map<string, Bucket>()
  return (keyId) => {
    const now = monotonicMs()
    const { allowed, bucket } = spendToken(buckets.get(keyId) ?? fullBucket(now, rate), now, rate)
    if (buckets.size >= BUCKETS_KEPT && !buckets.has(keyId)) dropFull(buckets, now, rate)
    buckets.set(keyId, bucket)
    const missing = rate.burstRequests - bucket.tokens
    const fullInMs = Math.max(0, bucket.refilledAtMs + missing * rate.refillIntervalMs - now)
    return { isAllowed: allowed, remaining: bucket.tokens, fullInMs }
  }
}

function dropFull(buckets: Map<string, Bucket>, now: number, rate: BucketRate): void {
  for (const [keyId, bucket] of buckets) {
    if (refill(bucket, now, rate).tokens === rate.burstRequests) buckets.delete(keyId)
  }
}

const WINDOW_SECS = (BURST_REQUESTS * REFILL_INTERVAL_MS) / 1_000
const POLICY = `"key";q=${BURST_REQUESTS};w=${WINDOW_SECS}`

/** Maximum number of cached header texts. There are some hundred different ones, and each response contains one. */
const ALLOWANCES_KEPT = 1_000
const allowanceTexts = new Map<number, string>()

/** The RateLimit headers of an allowance: name, value, name, value. Gap G20. */
export function rateLimitHeaders({ remaining, fullInMs }: Allowance): readonly string[] {
  const secs = Math.ceil(fullInMs / 1_000)
  const name = remaining * ALLOWANCES_KEPT + secs
  const known = allowanceTexts.get(name)
  const text = known ?? `"key";r=${remaining};t=${secs}`
  if (known === undefined && allowanceTexts.size < ALLOWANCES_KEPT) allowanceTexts.set(name, text)
  return ['ratelimit-policy', POLICY, 'ratelimit', text]
}
