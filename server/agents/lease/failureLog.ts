import type { Logger } from 'pino'

/** Interval at which a lasting failure is logged (milliseconds). */
const REPEATED_MS = 60_000

/** What is logged of work that is tried again and again. */
interface Messages {
  readonly level: 'warn' | 'error'
  readonly failure: string
  readonly end: string
}

/** The log of work that is tried again and again. */
export interface FailureLog {
  /** Logs a failure, unless one was logged less than a minute ago. */
  readonly failed: (error: unknown) => void
  /** Logs that the work succeeds again if it failed before. */
  readonly succeeded: () => void
}

/** Logs failures of work that is tried again and again, and their end. */
export function failureLog(log: Logger, { level, failure, end }: Messages): FailureLog {
  let quietUntilMs = Number.NEGATIVE_INFINITY
  let isFailing = false
  return {
    failed: (error) => {
      isFailing = true
      if (performance.now() < quietUntilMs) return
      quietUntilMs = performance.now() + REPEATED_MS
      log[level]({ err: error }, failure)
    },
    succeeded: () => {
      if (!isFailing) return
      isFailing = false
      quietUntilMs = Number.NEGATIVE_INFINITY
      log.info(end)
    },
  }
}
