/** A stored result of a series. Phases are microseconds; `status` is 0 without a response. */
export interface StoredResult {
  /** Seconds since the epoch. */
  readonly dueS: number
  readonly generation: number
  readonly outcome: number
  readonly reason: number
  readonly status: number
  readonly attempts: number
  readonly flags: number
  readonly lateMs: number
  readonly totalUs: number
  readonly dnsUs: number
  readonly connectUs: number
  readonly tlsUs: number
  readonly waitUs: number
  readonly bodyUs: number
  /** Bitmap of the failed assertions. */
  readonly failed: number
  /** Reason and total of the first of two attempts; 0 for a single attempt. */
  readonly firstReason: number
  readonly firstTotalUs: number
}

/** A result and the number of its series. */
export type SeriesResult = readonly [series: number, result: StoredResult]

/** Columns of `log` and `late` with the names of `StoredResult`. */
export const RESULT_COLUMNS = `due_s AS "dueS", generation, outcome, reason, status, attempts, flags, late_ms AS "lateMs",
  total_us AS "totalUs", dns_us AS "dnsUs", connect_us AS "connectUs", tls_us AS "tlsUs", wait_us AS "waitUs", body_us AS "bodyUs",
  failed_assertions AS failed, first_reason AS "firstReason", first_total_us AS "firstTotalUs"`

/** Seconds of an hour and of a day; leap seconds are ignored. */
export const HOUR_S = 60 * 60
export const DAY_S = 24 * HOUR_S

/** The hour of an instant (seconds since the epoch), counted from 1970. Pure. */
export function hourOf(atS: number): number {
  return Math.floor(atS / HOUR_S)
}

/** The results of `first` and `second` ordered by due time; for equal due times, the result of `first`. Pure. */
export function mergeResults(
  first: readonly StoredResult[],
  second: readonly StoredResult[],
): readonly StoredResult[] {
  if (second.length === 0) return first
  if (first.length === 0) return second
  const byDue = new Map([...second, ...first].map((result) => [result.dueS, result]))
  return [...byDue.values()].sort((a, b) => a.dueS - b.dueS)
}
