import { ConnectionError } from '../../api/client/attempt.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Change } from '../plan/planValue.ts'
import { ApiTimeout } from '../run/apiWait.ts'
import { databaseFailureText, isDatabaseError } from '../run/databaseFailure.ts'
import { StateError } from '../state/model/stateError.ts'

/** What became of one change. */
export interface ChangeOutcome {
  readonly change: Change
  /**
   * `limited`: the plan of the organisation does not allow it. `lost`: it was sent, and it is unknown whether
   * it took effect. `skipped`: the run ended before its turn. `stale`: the service changed since it was planned.
   */
  readonly result: 'done' | 'failed' | 'limited' | 'lost' | 'skipped' | 'stale'
  /** The service that it was about; null when there is none, or none that is known. */
  readonly serviceId: string | null
  /** Why it was not done; empty when it was. */
  readonly message: string
  /** The API's words when it refused the definition of the service; absent otherwise. */
  readonly refusal?: string
  /** Things to tell the user once, although it was done. */
  readonly notes: readonly string[]
}

/** An intent could not be written down, so its request did not leave. */
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
  // A wait that was ended: a creation never left, because it is not sent again once it may have been executed.
  if (error instanceof IntentNotWritten || error instanceof ApiTimeout) return true
  if (error instanceof ConnectionError) return error.outcome === 'not-sent'
  return (
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.code !== 'request_timeout'
  )
}

/**
 * Whether the server itself said that it failed, so that nothing can land later: 502 and 504 come from what
 * stands before the server, and the request may still be on its way. Pure.
 */
export function isFinalFailure(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'internal' && error.status === 500
}

/** Whether no later request can do better: the key is refused, no server answers, or nothing can be recorded. Pure. */
export function endsTheRun(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'not-sent'
  return !(error instanceof ApiError) || error.code === 'unauthorized'
}

/** The words of `error` for a person. Pure. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.message} (status ${error.status})`
  if (isDatabaseError(error)) return `its outcome could not be written down: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
