import { parseDuration } from '../../api/contract/duration.ts'
import { DiagnosticError, errorAt } from '../protocol/diagnostics.ts'

/** Longest time of an operation where `timeouts` does not say, waiting for the rate limit included (milliseconds). */
const TIMEOUT_MS = 600_000
/** Longest delay of a timer (milliseconds); a longer one would fire at once. */
const TIMER_MS_MAX = 2_147_483_647

/** `timeouts` of a resource, as configured or stored. */
type Timeouts = Readonly<Record<Operation, string | null>> | null
type Operation = 'create' | 'read' | 'update' | 'delete'

/**
 * The result of `work`, whose signal aborts with `signal` and when the time that `timeouts` gives `operation`
 * is over. Throws a DiagnosticError at `timeouts` then.
 */
export async function withinTime<T>(
  operation: Operation,
  timeouts: Timeouts,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const text = timeouts?.[operation] ?? null
  const given = text === null ? undefined : parseDuration(text)
  const delayMs = given === undefined ? TIMEOUT_MS : given.secs * 1_000 + given.nanos / 1_000_000
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(timedOut(operation, text)), Math.min(delayMs, TIMER_MS_MAX))
  try {
    return await work(AbortSignal.any([signal, controller.signal]))
  } finally {
    clearTimeout(timer)
  }
}

function timedOut(operation: Operation, text: string | null): DiagnosticError {
  const detail =
    `It took longer than ${text ?? '10m'}, the time that it waited for the rate limit included. ` +
    `Give it more with timeouts = { ${operation} = "…" }, and use one API key for each pipeline.`
  return new DiagnosticError(errorAt(['timeouts'], `The ${operation} timed out`, detail))
}
