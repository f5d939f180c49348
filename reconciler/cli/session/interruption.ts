import { setMaxListeners } from 'node:events'
import { EXIT } from '../../run/exitCode.ts'
import { Interrupted } from '../../run/failure.ts'

/** A signal that aborts with Interrupted when the program is asked to stop; `state` is for the message. */
export function signalOf(interruption: Interruption, state?: string): AbortSignal {
  const stop = new AbortController()
  // Node 20 warns of more than ten checks that wait.
  setMaxListeners(0, stop.signal)
  interruption.onStop(() => stop.abort(new Interrupted(interruption.exitCode() ?? EXIT.interrupted, state)))
  return stop.signal
}

/** The part of a process that receives signals. */
interface Signalled {
  on(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown
  exit(code: number): never
}

/**
 * Listens for signals: the first one requests a clean stop, the second one ends the process at once. SIGHUP, which a closed
 * terminal sends, counts as SIGTERM.
 */
export function interruptionOf(process: Signalled): Interruption {
  let exitCode: number | undefined
  const listeners: (() => void)[] = []
  let last = (): void => {}
  const stop = (code: number): void => {
    if (exitCode !== undefined) {
      last()
      process.exit(code)
    }
    exitCode = code
    for (const listener of listeners) listener()
  }
  process.on('SIGINT', () => stop(EXIT.interrupted))
  process.on('SIGTERM', () => stop(EXIT.terminated))
  process.on('SIGHUP', () => stop(EXIT.terminated))
  return {
    exitCode: () => exitCode,
    onStop: (listener) => {
      if (exitCode === undefined) listeners.push(listener)
      else listener()
    },
    beforeEnd: (listener) => {
      last = listener
    },
  }
}

/** Requests to stop the program. */
export interface Interruption {
  /** The exit code of the stop; undefined until one is requested. */
  readonly exitCode: () => number | undefined
  /** Calls `listener` when a stop is requested, at once if it already was. */
  readonly onStop: (listener: () => void) => void
  /** Calls `listener` when a second request ends the process at once, right before it does. */
  readonly beforeEnd: (listener: () => void) => void
}
