import { parseDuration } from '../../api/contract/duration.ts'
import { DiagnosticError, errorAt } from '../protocol/authoring/diagnostics.ts'
import type { Unknown } from '../protocol/values/value.ts'

/** Default time limit of an operation, including waits for the rate limit (milliseconds). */
export const TIMEOUT_MS = 600_000
/** Maximum delay of a timer (milliseconds). A longer one would fire immediately. */
const TIMER_MS_MAX = 2_147_483_647

type Operation = 'create' | 'read' | 'update' | 'delete'

/** The time limit of an operation. */
export interface TimeLimit {
  readonly operation: Operation
  /** `timeouts` of the resource, as configured, planned or stored; absent when it has no such argument. */
  readonly timeouts?: Readonly<Record<Operation, string | null | Unknown>> | null | Unknown
  /** Limit when `timeouts` has no known value (milliseconds). Default: `TIMEOUT_MS`. */
  readonly defaultMs?: number
}

/**
 * Runs `work`, whose signal aborts with `signal` and at the time limit. Throws a DiagnosticError at the time limit,
 * with the path `timeouts` if there is such an argument.
 */
export async function withinTime<T>(
  limit: TimeLimit,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { delayMs, text } = timeOf(limit)
  const controller = new AbortController()
  const timedOut = timeOut(limit, text)
  const timer = setTimeout(() => controller.abort(timedOut), Math.min(delayMs, TIMER_MS_MAX))
  try {
    return await work(AbortSignal.any([signal, controller.signal]))
  } catch (error) {
    // Node's timer rejects with its own error, not with the reason of the signal.
    throw controller.signal.aborted && isAbort(error) ? timedOut : error
  } finally {
    clearTimeout(timer)
  }
}

function timeOf({ operation, timeouts, defaultMs = TIMEOUT_MS }: TimeLimit): {
  readonly delayMs: number
  readonly text: string
} {
  const given = typeof timeouts === 'object' ? (timeouts?.[operation] ?? null) : null
  const duration = typeof given === 'string' ? parseDuration(given) : undefined
  if (typeof given !== 'string' || duration === undefined) {
    return { delayMs: defaultMs, text: `${defaultMs / 60_000}m` }
  }
  return { delayMs: duration.secs * 1_000 + duration.nanos / 1_000_000, text: given }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function timeOut({ operation, timeouts }: TimeLimit, text: string): DiagnosticError {
  const hasArgument = timeouts !== undefined
  const more = hasArgument ? `Raise the limit with timeouts = { ${operation} = "…" }. ` : ''
  const detail =
    `It took longer than ${text}, including waits for the rate limit. ${more}` +
    'Use one API key for each pipeline.'
  return new DiagnosticError(
    errorAt(hasArgument ? ['timeouts', operation] : undefined, `The ${operation} timed out`, detail),
  )
}
