import { Option } from 'commander'
import { assertSafe, type ConsoleListening } from '../../console/startConsole.ts'
import { VARIABLES } from './configuration.ts'
import { readOrigin } from './originOption.ts'

/** The options of `serve` that are about the console. */
export interface ConsoleListeningOptions {
  readonly consoleHost: string
  readonly consolePort?: number
  readonly consoleUrl?: string
}

/**
 * The listener of the console that the options ask for; `null` for none. Its address alone is no contradiction: other
 * commands use it too. Throws when passwords would travel unencrypted.
 */
export function consoleListeningOf(options: ConsoleListeningOptions): ConsoleListening | null {
  const { consoleHost: host, consolePort: port, consoleUrl: url } = options
  if (port === undefined) return null
  const listening = { host, port, ...(url === undefined ? {} : { url }) }
  assertSafe(listening)
  return listening
}

/** The option for the address under which people reach the console. */
export function consoleUrlOption(): Option {
  return new Option(
    '--console-url <url>',
    'address under which people reach the console, https or loopback (default: http://localhost with its port)',
  )
    .env(VARIABLES.consoleUrl)
    .argParser(readOrigin)
}
