import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../../api/contract/apiError.ts'
import { DatabaseDown } from './circuit.ts'

/** Connection exceptions, and shutdowns of the server. */
const LOST_STATES = /^(?:08|57P0[1-3])/
/** Serialization failure and deadlock: nothing was written, and the next try may succeed. */
const CONFLICT_STATES: ReadonlySet<string> = new Set(['40001', '40P01'])

/** How long after its start work with a lost connection is retried (milliseconds). Gap G56. */
export const RETRY_MS = 5_000
/** For how long it is retried when the loss is noticed later: a silent connection is, after its timeout. */
const LATE_RETRY_MS = 1_500
/** End of all retries after the start (milliseconds), so that no client waits longer than eight seconds. */
const RETRIED_MS_MAX = 7_500
/** Pause after a lost connection (milliseconds). */
export const RETRY_PAUSE_MS = 50

/** No connection was available, or the database refused a new one: the statement was not sent. Gap G56. */
export class NotSent extends ApiError {
  constructor(cause: unknown) {
    super('internal', 'there is no connection to the database: repeat the request', {
      retryAfterSecs: 1,
      cause,
    })
  }
}

/**
 * The error of a connection, with a text: when none of several addresses of a host could be connected to, such as those
 * of localhost, that of the first. Pure.
 */
export function connectionError(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error
}

/** SQLSTATE of a lock timeout. */
export const LOCK_NOT_AVAILABLE = '55P03'

/** SQLSTATE of an error of the server; `undefined` for an error of the connection. Pure. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) && 'severity' in error ? error.code : undefined
}

/** Messages of the driver for a connection that ended or timed out. */
const LOST_TEXTS = /connection terminated|timeout|connection error|not queryable|closed the connection/i

/** Whether there was no connection, or it ended before the server responded: the statement may be repeated. Pure. */
export function isLost(error: unknown): boolean {
  if (error instanceof NotSent) return true
  const state = sqlStateOf(error)
  if (state !== undefined) return LOST_STATES.test(state)
  if (!(error instanceof Error)) return false
  // Errors of the operating system, such as ECONNRESET.
  return ('code' in error && /^E[A-Z]+$/.test(String(error.code))) || LOST_TEXTS.test(error.message)
}

/** Whether a statement that failed with `error` cannot have been executed, because it was not sent. Pure. */
export function isUnsent(error: unknown): boolean {
  return error instanceof NotSent || error instanceof DatabaseDown
}

/** Errors in data, violated constraints, exceeded limits, and exceptions of triggers. */
const VALUE_STATES = /^(?:22|23|54|P0)/

/** Whether the server refused the values of a statement, so that other values might pass. Pure. */
export function isOfValues(error: unknown): boolean {
  return VALUE_STATES.test(sqlStateOf(error) ?? '')
}

/** Whether the server aborted the statement because of another transaction. Pure. */
export function isConflict(error: unknown): boolean {
  return CONFLICT_STATES.has(sqlStateOf(error) ?? '')
}

/**
 * Decides after each failure whether to retry: only lost connections, and only until a deadline. Work that begins in an
 * outage is refused at once; work that an outage interrupts is retried until the outage ends.
 */
export class Retries {
  readonly #nowMs: () => number
  readonly #begunAtMs: number
  #deadlineMs: number
  #failures = 0

  /** `nowMs` is a monotonic clock (milliseconds); the work began at `begunAtMs`, or now. */
  constructor(nowMs: () => number, begunAtMs = nowMs()) {
    this.#nowMs = nowMs
    this.#begunAtMs = begunAtMs
    this.#deadlineMs = begunAtMs + RETRY_MS
  }

  /** Resolves to true, after a pause, when the caller should retry; to false when `error` is final. */
  async shouldRetry(error: unknown): Promise<boolean> {
    const isDown = error instanceof DatabaseDown
    if (!isDown && !isLost(error)) return false
    if (isDown && this.#failures === 0) return false
    this.#failures += 1
    if (this.#failures === 1) {
      const lateMs = Math.min(this.#nowMs() + LATE_RETRY_MS, this.#begunAtMs + RETRIED_MS_MAX)
      this.#deadlineMs = Math.max(this.#deadlineMs, lateMs)
    }
    if (this.#nowMs() + RETRY_PAUSE_MS >= this.#deadlineMs) return false
    await sleep(RETRY_PAUSE_MS)
    return true
  }
}
