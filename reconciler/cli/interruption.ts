import { EXIT } from './exitCode.ts'
import type { Interruption } from './runCommand.ts'

/** What of a process is needed to hear that it should stop. */
interface Signalled {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  exit(code: number): never
}

/** Listens to SIGINT and SIGTERM: the first asks for a clean stop, the second ends the process at once. */
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
  return {
    exitCode: () => exitCode,
    onStop: (listener) => {
      if (exitCode === undefined) listeners.push(listener)
      else listener()
    },
  }
}
