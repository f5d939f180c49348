/** Results of checks for tests. */
import type { CheckReport } from '../checkReport.ts'
import { type PendingResult, type QueuedResult, queuedResult } from '../queuedResult.ts'

/** The store id in tests. */
export const STORE = '0192b1d4-5c1e-7000-8000-00000000000a'
export const OTHER_STORE = '0192b1d4-5c1e-7000-8000-00000000000b'

const UP: CheckReport = {
  ...{ outcome: 'up', reason: 'none', status: 200, attempts: 1, flags: 0 },
  phases: { total: 5_000, dns: 0, connect: 1_000, tls: 0, wait: 3_000, body: 1_000 },
  detail: null,
  certificates: [],
}

/** An up result of `series`, due at `dueS`. */
export function pending(series: number, dueS: number, store = STORE): PendingResult {
  return { series, generation: 1, store, dueS, lateMs: 1, report: UP }
}

/** The same result in the form that is sent. */
export function queued(series: number, dueS: number, store = STORE): QueuedResult {
  return queuedResult(pending(series, dueS, store))
}
