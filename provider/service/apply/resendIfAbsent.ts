import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionError } from '../../../api/client/attempt.ts'
import { ApiError } from '../../../api/contract/apiError.ts'

/** How often something whose outcome is unknown is sent. */
const ATTEMPTS_MAX = 4
/** Pause before the first look at what became of it (milliseconds); each further one is twice as long. */
const LOOK_AFTER_MS = 250
/**
 * Looks before it is sent again, some four seconds together: what stands between us and the server may deliver a
 * request after it gave us up, and not every server knows idempotency keys.
 */
const LOOKS_MAX = 4
/** How far the server's clock may be behind ours (milliseconds). */
export const CLOCK_SKEW_MS = 60_000

/** A request that must not be executed twice. */
interface Sending<T> {
  readonly send: () => Promise<T>
  /**
   * What it made, where no answer said so; `undefined` when it did not arrive. `isOurs` says of an instant of the
   * server, RFC 3339, whether it may be that of this sending.
   */
  readonly find: (isOurs: (instant: string) => boolean) => Promise<T | undefined>
  readonly signal: AbortSignal
}

/**
 * The result of `send`, executed once: without an answer, `find` looks for what it made before it is sent again.
 * Throws what the client throws for a refusal, and what `find` throws.
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

/** Whether the server itself says that it failed: nothing is on its way any more. */
function isOwnFailure(error: unknown): boolean {
  return error instanceof ApiError && error.status === 500
}

/** Whether it may have been executed although the answer to attempt number `attempt` says otherwise, or none came. */
export function isOutcomeUnknown(error: unknown, attempt: number): boolean {
  if (error instanceof ConnectionError) return error.outcome === 'unknown'
  if (!(error instanceof ApiError)) return false
  // 409 says that the server still executes our own earlier attempt (Gap G20).
  return error.status >= 500 || (error.code === 'conflict' && attempt > 1)
}
