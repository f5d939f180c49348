import { Option } from 'commander'
import type { StatusListening } from '../../process/settings.ts'
import { VARIABLES } from './configuration.ts'
import { readOrigin } from './originOption.ts'

/** Options of `serve` for status pages. */
export interface StatusListeningOptions {
  readonly statusHost: string
  readonly statusPort?: number
  readonly statusUrl?: string
}

/** The listener of status pages; `null` for none. Throws on contradictory options. */
export function statusListeningOf(options: StatusListeningOptions): StatusListening | null {
  const { statusHost: host, statusPort: port, statusUrl: url } = options
  if (port === undefined) {
    if (url !== undefined) throw new Error('--status-url needs --status-port')
    return null
  }
  return { host, port, ...(url === undefined ? {} : { url }) }
}

/** The option for the public URL of status pages. */
export function statusUrlOption(): Option {
  return new Option(
    '--status-url <url>',
    'public address of the status pages; needed for pages with their own host names',
  )
    .env(VARIABLES.statusUrl)
    .argParser(readOrigin)
}
