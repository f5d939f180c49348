import { EXIT } from '../../run/exitCode.ts'
import { Interrupted } from '../../run/failure.ts'

/** A signal that is aborted, with Interrupted as its reason, as soon as the program is to stop; `state` is for its text. */
export function signalOf(interruption: Interruption, state?: string): AbortSignal {
  const stop = new AbortController()
  interruption.onStop(() => stop.abort(new Interrupted(interruption.exitCode() ?? EXIT.interrupted, state)))
  return stop.signal
}

/** What of a process is needed to hear that it should stop. */
interface Signalled {
  on(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown
  exit(code: number): never
}

/**
 * Listens to SIGINT and SIGTERM: the first asks for a clean stop, the second ends the process at once. SIGHUP, which a
 * closed terminal sends, counts as SIGTERM.
 */
export function interruptionOf(process: Signalled): Interruption {
  let exitCode: number | undefined
  const listeners: (() => void)[] = []
  const stop = (code: number): void => {
    if (exitCode !== undefined) process.exit(code)
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
  }
}

/** A request to stop the program. */
export interface Interruption {
  readonly exitCode: () => number | undefined
  readonly onStop: (listener: () => void) => void
}
