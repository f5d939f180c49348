/** Requests that a key may make at once. Contract: Limits, rule 1. */
export const BURST_REQUESTS = 20

/** Time in which a key earns one more request (milliseconds). Contract: Limits, rule 1. */
export const REFILL_INTERVAL_MS = 200

/** The rate of a bucket: its size (requests) and the time in which one more is earned (milliseconds). */
export interface BucketRate {
  readonly burstRequests: number
  readonly refillIntervalMs: number
}

/** The rate that the contract grants to each key. Contract: Limits, rule 1. */
export const CONTRACT_RATE: BucketRate = {
  burstRequests: BURST_REQUESTS,
  refillIntervalMs: REFILL_INTERVAL_MS,
}

/** Tokens left and the instant up to which refill has been counted (milliseconds of a monotonic clock). */
export interface Bucket {
  readonly tokens: number
  readonly refilledAtMs: number
}

/** A full bucket at `nowMs`. Pure. */
export function fullBucket(nowMs: number, rate: BucketRate = CONTRACT_RATE): Bucket {
  return { tokens: rate.burstRequests, refilledAtMs: nowMs }
}

/**
 * `bucket` refilled up to `nowMs`. A clock that goes back changes nothing; a full bucket earns nothing for the time
 * that it was full. Pure.
 */
export function refill(bucket: Bucket, nowMs: number, rate: BucketRate = CONTRACT_RATE): Bucket {
  const earned = Math.max(0, Math.floor((nowMs - bucket.refilledAtMs) / rate.refillIntervalMs))
  const tokens = Math.min(rate.burstRequests, bucket.tokens + earned)
  // A full bucket discards the started interval, or the token after a burst would come early.
  const refilledAtMs =
    tokens === rate.burstRequests
      ? Math.max(nowMs, bucket.refilledAtMs)
      : bucket.refilledAtMs + earned * rate.refillIntervalMs
  return { tokens, refilledAtMs }
}

/**
 * Spends one token of `bucket` at `nowMs`. Pure: returns the new bucket and whether the request may pass; a refused
 * request costs nothing (Gap G21).
 */
export function spendToken(
  bucket: Bucket,
  nowMs: number,
  rate: BucketRate = CONTRACT_RATE,
): { readonly allowed: boolean; readonly bucket: Bucket } {
  const refilled = refill(bucket, nowMs, rate)
  if (refilled.tokens === 0) return { allowed: false, bucket: refilled }
  return { allowed: true, bucket: { ...refilled, tokens: refilled.tokens - 1 } }
}

/** Milliseconds from `nowMs` until `bucket` has a token; 0 when it has one. Pure. */
export function waitForTokenMs(bucket: Bucket, nowMs: number, rate: BucketRate = CONTRACT_RATE): number {
  const refilled = refill(bucket, nowMs, rate)
  return refilled.tokens > 0 ? 0 : refilled.refilledAtMs + rate.refillIntervalMs - nowMs
}
