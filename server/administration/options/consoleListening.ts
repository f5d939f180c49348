import { Option } from 'commander'
import { wholeNumber } from '../../../monitoring/program/wholeNumber.ts'
import { assertSafe, type ConsoleListening } from '../../console/startConsole.ts'
import { VARIABLES } from './configuration.ts'
import { readOrigin } from './originOption.ts'

/** Options of `serve` for the console. */
export interface ConsoleListeningOptions {
  readonly consoleHost: string
  readonly consolePort?: number
  readonly consoleUrl?: string
  readonly trustProxies: number
}

/**
 * The listener of the console; `null` for none. A URL without a port is no contradiction, because other commands use
 * the URL too. Throws when passwords would be sent unencrypted.
 */
export function consoleListeningOf(
  options: ConsoleListeningOptions,
  hasTls: boolean,
): ConsoleListening | null {
  const { consoleHost: host, consolePort: port, consoleUrl: url, trustProxies: proxies } = options
  if (port === undefined) return null
  if (hasTls && url?.startsWith('https:') !== true) {
    throw new Error('--tls-cert needs --console-url: the address, with https, for which the certificate is')
  }
  const listening = { host, port, proxies, ...(url === undefined ? {} : { url }) }
  assertSafe(listening)
  return listening
}

/** Maximum number of trusted proxies. */
const PROXIES_MAX = 9

/** The option for the number of trusted proxies. */
export function trustProxiesOption(): Option {
  return new Option(
    '--trust-proxies <count>',
    'number of proxies in front of the console whose X-Forwarded-For is trusted',
  )
    .env(VARIABLES.trustProxies)
    .default(0)
    .argParser(wholeNumber(0, PROXIES_MAX))
}

/** The option for the public URL of the console. `note` follows its description in the help. */
export function consoleUrlOption(note = ''): Option {
  return new Option('--console-url <url>', `public address of the console, https or loopback${note}`)
    .env(VARIABLES.consoleUrl)
    .argParser(readOrigin)
}
