/** The calls in progress, and the events that affect all of them: an interruption, the end of the process, and a crash. */
import type { Call, Session } from '../rpc/call.ts'

/** A call in the table; `end` removes it. */
interface OpenCall {
  readonly call: Call
  abort(): void
  end(): void
}

export interface CallTable {
  open(session: Session): OpenCall
  /** Aborts all calls in progress, and every later call until `resume`, because Terraform was interrupted. */
  stop(): void
  /** Aborts all calls in progress, and every later call, because the process ends. */
  close(): void
  /** Permits calls again, for a process that the next Terraform configures. */
  resume(): void
  /** Makes every call in progress fail with `error`. */
  crash(error: Error): void
}

interface Entry {
  readonly controller: AbortController
  readonly fail: (error: Error) => void
}

export function createCallTable(): CallTable {
  const entries = new Set<Entry>()
  let stopping = new AbortController()
  let isClosed = false
  const abortAll = (): void => {
    for (const { controller } of entries) controller.abort()
  }
  return {
    open: (session) => {
      const controller = new AbortController()
      let fail: (error: Error) => void = () => undefined
      const crash = new Promise<never>((_, reject) => {
        fail = reject
      })
      // Prevents an unhandled rejection when the call does not wait for this promise.
      crash.catch(() => undefined)
      const entry = { controller, fail }
      entries.add(entry)
      if (isClosed || stopping.signal.aborted) controller.abort()
      return {
        call: { session, signal: controller.signal, stopped: stopping.signal, crash },
        abort: () => controller.abort(),
        end: () => void entries.delete(entry),
      }
    },
    stop: () => {
      stopping.abort()
      abortAll()
    },
    close: () => {
      isClosed = true
      abortAll()
    },
    resume: () => {
      if (stopping.signal.aborted) stopping = new AbortController()
    },
    crash: (error) => {
      for (const { fail } of entries) fail(error)
    },
  }
}
