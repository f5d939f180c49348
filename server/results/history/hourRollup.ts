import { OUTCOMES } from '../../../monitoring/protocol/outcomes.ts'
import type { StoredResult } from './storedResult.ts'

/** Buckets of a latency histogram: bucket n holds latencies up to 1 ms × 1.6ⁿ, the last one all above 31 s. */
const BUCKETS = 24
const BUCKET_GROWTH = 1.6
/** Upper bounds of the buckets (microseconds). */
const BOUNDS_US = Array.from({ length: BUCKETS }, (_, index) => 1_000 * BUCKET_GROWTH ** index)

/** Phases that are summed for each hour, in their stored order. */
const PHASE_FIELDS = ['dnsUs', 'connectUs', 'tlsUs', 'waitUs', 'bodyUs'] as const

/** The results of a series in an hour. Latencies are those of its up results (microseconds). */
export interface HourRollup {
  readonly up: number
  readonly degraded: number
  readonly down: number
  readonly unknown: number
  readonly sumUs: number
  readonly minUs: number
  readonly maxUs: number
  /** Sums of dns, connect, tls, wait and body. */
  readonly phasesUs: readonly number[]
  /** Number of latencies in each bucket. */
  readonly buckets: readonly number[]
}

/** The rollup of `results`. Pure. */
export function rollUp(results: readonly StoredResult[]): HourRollup {
  const counts = { up: 0, degraded: 0, down: 0, unknown: 0 }
  const phasesUs = PHASE_FIELDS.map(() => 0)
  const buckets = BOUNDS_US.map(() => 0)
  let [sumUs, minUs, maxUs] = [0, 0, 0]
  for (const result of results) {
    if (result.outcome === OUTCOMES.degraded) counts.degraded += 1
    else if (result.outcome === OUTCOMES.down) counts.down += 1
    else if (result.outcome !== OUTCOMES.up) counts.unknown += 1
    else {
      const { totalUs } = result
      minUs = counts.up === 0 ? totalUs : Math.min(minUs, totalUs)
      maxUs = Math.max(maxUs, totalUs)
      sumUs += totalUs
      counts.up += 1
      const bucket = bucketOf(totalUs)
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
      for (const [index, field] of PHASE_FIELDS.entries())
        phasesUs[index] = (phasesUs[index] ?? 0) + result[field]
    }
  }
  return { ...counts, sumUs, minUs, maxUs, phasesUs, buckets }
}

/** Combined latencies of several hours or series. */
export interface Latencies {
  readonly count: number
  /** The `q`-quantile (0 to 1) in microseconds, estimated within a bucket; `null` without a latency. */
  readonly quantileUs: (q: number) => number | null
  readonly maxUs: number | null
}

/** The combined latencies of `rollups`. Pure. */
export function latenciesOf(
  rollups: readonly Pick<HourRollup, 'buckets' | 'minUs' | 'maxUs' | 'up'>[],
): Latencies {
  const known = rollups.filter(({ up }) => up > 0)
  const buckets = BOUNDS_US.map((_, index) => known.reduce((sum, one) => sum + (one.buckets[index] ?? 0), 0))
  const count = buckets.reduce((sum, one) => sum + one, 0)
  const minUs = Math.min(...known.map((one) => one.minUs))
  const maxUs = Math.max(...known.map((one) => one.maxUs))
  return {
    count,
    maxUs: count === 0 ? null : maxUs,
    quantileUs: (q) => {
      if (count === 0) return null
      let below = 0
      const wanted = q * count
      for (const [index, inBucket] of buckets.entries()) {
        if (inBucket > 0 && below + inBucket >= wanted) {
          const fromUs = index === 0 ? 0 : (BOUNDS_US[index - 1] ?? 0)
          const untilUs = index === BUCKETS - 1 ? maxUs : (BOUNDS_US[index] ?? maxUs)
          const estimateUs = fromUs + ((wanted - below) / inBucket) * (untilUs - fromUs)
          return Math.round(Math.min(maxUs, Math.max(minUs, estimateUs)))
        }
        below += inBucket
      }
      return maxUs
    },
  }
}

/** The exact `q`-quantile (0 to 1) of sorted values; `null` without one. Pure. */
export function quantileOf(sorted: readonly number[], q: number): number | null {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null
}

function bucketOf(totalUs: number): number {
  for (const [index, boundUs] of BOUNDS_US.entries()) if (totalUs <= boundUs) return index
  return BUCKETS - 1
}
