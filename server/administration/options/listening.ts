import { InvalidArgumentError, type Option } from 'commander'
import { assertSafe, type ConsoleListening } from '../../console/startConsole.ts'
import type { TlsFiles } from '../../process/certificateFiles.ts'
import type { AgentListening, StatusListening } from '../../process/settings.ts'
import { setting } from './configuration.ts'
import { tlsFilesOf } from './tlsOptions.ts'

/** Options of `serve` for agents, status pages and the console. */
export interface ListeningOptions {
  readonly agentHost: string
  readonly agentPort?: number
  readonly agentTlsCert?: string
  readonly agentTlsKey?: string
  readonly agentAdvertiseUrl?: string
  readonly statusHost: string
  readonly statusPort?: number
  readonly statusUrl?: string
  readonly consoleHost: string
  readonly consolePort?: number
  readonly consoleUrl?: string
  readonly trustProxies: number
  readonly monitor: 'on' | 'off'
}

/**
 * The listener for agents; `null` for none. Uses the certificate `shared` unless it has its own. Throws on
 * contradictory options.
 */
export function agentListeningOf(
  options: ListeningOptions,
  shared: TlsFiles | undefined,
): AgentListening | null {
  const { agentHost: host, agentPort: port, agentTlsCert, agentTlsKey, agentAdvertiseUrl, monitor } = options
  const own = tlsFilesOf(agentTlsCert, agentTlsKey, ['--agent-tls-cert', '--agent-tls-key'])
  if (port === undefined) {
    if (agentTlsCert !== undefined) throw new Error('--agent-tls-cert needs --agent-port')
    return null
  }
  if (monitor === 'off') throw new Error('--agent-port needs --monitor on: with off nothing is checked')
  return { host, port, tls: own ?? shared, advertisedUrl: agentAdvertiseUrl }
}

/** The listener of status pages; `null` for none. Throws on contradictory options. */
export function statusListeningOf(options: ListeningOptions): StatusListening | null {
  const { statusHost: host, statusPort: port, statusUrl: url } = options
  if (port !== undefined) return { host, port, url }
  if (url !== undefined) throw new Error('--status-url needs --status-port')
  return null
}

/**
 * The listener of the console; `null` for none. A URL without a port is no contradiction, because other commands use
 * the URL too. Throws when the listener has a certificate but no https URL, and when passwords would be sent
 * unencrypted.
 */
export function consoleListeningOf(options: ListeningOptions, hasTls: boolean): ConsoleListening | null {
  const { consoleHost: host, consolePort: port, consoleUrl: url, trustProxies: proxies } = options
  if (port === undefined) return null
  if (hasTls && url?.startsWith('https:') !== true) {
    throw new Error('--tls-cert needs --console-url: the address, with https, for which the certificate is')
  }
  const listening = { host, port, proxies, url }
  assertSafe(listening)
  return listening
}

/** The option for the public URL of the console. `note` follows its description in the help. */
export function consoleUrlOption(note = ''): Option {
  const description = `public address of the console, https or loopback${note}`
  return setting('--console-url <url>', description).argParser(readOrigin)
}

/** Parses an option with the public origin of a listener. */
export function readOrigin(text: string): string {
  if (URL.canParse(text)) {
    const { protocol, origin, pathname, search, hash, username } = new URL(text)
    const isOrigin = pathname === '/' && search === '' && hash === '' && username === ''
    if ((protocol === 'http:' || protocol === 'https:') && isOrigin) return origin
  }
  throw new InvalidArgumentError('must be an address such as https://status.example.org, without a path')
}
