import { ConnectionError } from '../../api/client/attempt.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Change } from '../plan/planValue.ts'
import { ApiTimeout } from '../run/apiWait.ts'
import { databaseFailureText, isDatabaseError } from '../run/databaseFailure.ts'
import { StateError } from '../state/model/stateError.ts'

/** The result of one change. */
export interface ChangeOutcome {
  readonly change: Change
  /**
   * `limited`: exceeds a plan limit of the organisation. `lost`: sent, effect unknown. `skipped`: the run ended earlier.
   * `stale`: the service changed after the plan.
   */
  readonly result: 'done' | 'failed' | 'limited' | 'lost' | 'skipped' | 'stale'
  /** Id of the service; null when there is none or it is unknown. */
  readonly serviceId: string | null
  /** Why the change was not executed; empty when it was. */
  readonly message: string
  /** The API's message when it refused the definition of the service; absent otherwise. */
  readonly refusal?: string
  /** Notices about an executed change. */
  readonly notes: readonly string[]
}

/** An intent could not be recorded, so its request was not sent. */
export class IntentNotWritten extends StateError {
  constructor(cause: unknown) {
    const reason = cause instanceof StateError ? cause.reason : 'unusable'
    const message = isDatabaseError(cause) ? databaseFailureText(cause) : reasonOf(cause)
    super(
      reason === 'lost' ? message : `the state cannot be written, so nothing is sent: ${message}`,
      reason,
      {
        cause,
      },
    )
  }
}

/** Whether the creation whose request ended with `error` certainly took no effect. Pure. */
export function certainlyNotExecuted(error: unknown): boolean {
  // A creation that timed out while waiting was not sent: a creation is never repeated once it may have been executed.
  if (error instanceof IntentNotWritten || error instanceof ApiTimeout) return true
  if (error instanceof ConnectionError) return error.outcome === 'not-sent'
  return (
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.code !== 'request_timeout'
  )
}

/**
 * Whether the server refused a creation and would refuse it again with the same operation id. After 409 an earlier attempt may
 * be in progress. Pure.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code !== 'conflict' && certainlyNotExecuted(error)
}

/**
 * Whether the server itself reported the failure, so that the request cannot take effect later. After 502 and 504, which
 * come from a proxy, it still may. Pure.
 */
export function isFinalFailure(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'internal' && error.status === 500
}

/**
 * Whether later requests would fail as well: the key is refused, no server responds, or nothing can be recorded.
 * Pure.
 */
export function endsTheRun(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'not-sent'
  return !(error instanceof ApiError) || error.code === 'unauthorized'
}

/** The message of `error` for users. Pure. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.message} (status ${error.status})`
  if (isDatabaseError(error)) return `its result could not be recorded: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
