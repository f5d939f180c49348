import type { TlsFiles } from '../../process/certificateFiles.ts'
import type { AgentListening } from '../../process/settings.ts'
import { tlsFilesOf } from './tlsOptions.ts'

/** Options of `serve` for agents. */
export interface AgentListeningOptions {
  readonly agentHost: string
  readonly agentPort?: number
  readonly agentTlsCert?: string
  readonly agentTlsKey?: string
  readonly agentAdvertiseUrl?: string
  readonly monitor: 'on' | 'off'
}

/**
 * The listener for agents; `null` for none. Uses the certificate `shared` unless it has its own. Throws on
 * contradictory options.
 */
export function agentListeningOf(
  options: AgentListeningOptions,
  shared: TlsFiles | undefined,
): AgentListening | null {
  const { agentHost: host, agentPort: port, agentTlsCert, agentTlsKey, monitor } = options
  const { agentAdvertiseUrl: advertisedUrl } = options
  const own = tlsFilesOf(agentTlsCert, agentTlsKey, ['--agent-tls-cert', '--agent-tls-key'])
  if (port === undefined) {
    if (agentTlsCert !== undefined) throw new Error('--agent-tls-cert needs --agent-port')
    return null
  }
  if (monitor === 'off') throw new Error('--agent-port needs --monitor on: with off nothing is checked')
  const tls = own ?? shared
  return {
    ...{ host, port },
    ...(tls === undefined ? {} : { tls }),
    ...(advertisedUrl === undefined ? {} : { advertisedUrl }),
  }
}
