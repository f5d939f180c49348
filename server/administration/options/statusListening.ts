import { Option } from 'commander'
import type { StatusListening } from '../../process/settings.ts'
import { VARIABLES } from './configuration.ts'
import { readOrigin } from './originOption.ts'

/** The options of `serve` that are about status pages. */
export interface StatusListeningOptions {
  readonly statusHost: string
  readonly statusPort?: number
  readonly statusUrl?: string
}

/** The listener of status pages that the options ask for; `null` for none. Throws when they contradict one another. */
export function statusListeningOf(options: StatusListeningOptions): StatusListening | null {
  const { statusHost: host, statusPort: port, statusUrl: url } = options
  if (port === undefined) {
    if (url !== undefined) throw new Error('--status-url needs --status-port')
    return null
  }
  return { host, port, ...(url === undefined ? {} : { url }) }
}

/** The option for the address under which the public reaches the pages. */
export function statusUrlOption(): Option {
  return new Option(
    '--status-url <url>',
    'public address of the status pages; needed for pages with their own host names',
  )
    .env(VARIABLES.statusUrl)
    .argParser(readOrigin)
}
