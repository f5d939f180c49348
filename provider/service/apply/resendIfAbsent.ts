import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionError } from '../../../api/client/attempt.ts'
import { UnreadableResponse } from '../../../api/client/contractResponse.ts'
import { ApiError } from '../../../api/contract/apiError.ts'

/** Maximum number of times that a request with an unknown result is sent. */
const ATTEMPTS_MAX = 4
/** Pause before the first search for the result (milliseconds); each further one is twice as long. */
const LOOK_AFTER_MS = 250
/**
 * Number of searches before the request is sent again, about four seconds in total: a proxy may deliver a request after
 * it has closed the connection, and not every server supports idempotency keys.
 */
const LOOKS_MAX = 4
/** Maximum lag of the server's clock (milliseconds). */
export const CLOCK_SKEW_MS = 60_000

/** A request that must not be executed twice. */
interface Sending<T> {
  readonly send: () => Promise<T>
  /**
   * Finds the result of a request without a response; `undefined` when it had no effect. `isOurs` returns whether an
   * instant of the server, RFC 3339, may belong to this request.
   */
  readonly find: (isOurs: (instant: string) => boolean) => Promise<T | undefined>
  readonly signal: AbortSignal
}

/**
 * The result of `send`, which takes effect once: after a lost response, `find` searches for the result before `send` is
 * repeated. Throws errors of the client and of `find`.
 */
export async function resendIfAbsent<T>({ send, find, signal }: Sending<T>): Promise<T> {
  const earliestMs = Date.now() - CLOCK_SKEW_MS
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send()
    } catch (error) {
      if (!isOutcomeUnknown(error, attempt) || attempt === ATTEMPTS_MAX) throw error
      const looks = isOwnFailure(error) ? 1 : LOOKS_MAX
      for (let look = 0; look < looks; look += 1) {
        await wait(LOOK_AFTER_MS * 2 ** look, undefined, { signal })
        const found = await find((instant) => Date.parse(instant) >= earliestMs)
        if (found !== undefined) return found
      }
    }
  }
}

/** Whether the server itself reported the failure, so that the request can no longer take effect. */
function isOwnFailure(error: unknown): boolean {
  return error instanceof ApiError && error.status === 500
}

/** Whether the request may have taken effect despite `error`, which attempt number `attempt` gave. */
export function isOutcomeUnknown(error: unknown, attempt: number): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'unknown'
  // A gateway may replace the server's response by a page of its own.
  if (error instanceof UnreadableResponse) return true
  if (!(error instanceof ApiError)) return false
  // 409: the server is still executing an earlier attempt (Gap G20).
  return error.status >= 500 || (error.code === 'conflict' && attempt > 1)
}
