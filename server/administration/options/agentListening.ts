import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { AgentListening } from '../../process/settings.ts'

/** The options of `serve` that are about agents. */
export interface AgentListeningOptions {
  readonly agentHost: string
  readonly agentPort?: number
  readonly agentTlsCert?: string
  readonly agentTlsKey?: string
  readonly monitor: 'on' | 'off'
}

/** The listener for agents that the options ask for; `null` for none. Throws when they contradict one another. */
export function agentListeningOf(options: AgentListeningOptions): AgentListening | null {
  const { agentHost: host, agentPort: port, agentTlsCert, agentTlsKey, monitor } = options
  if ((agentTlsCert === undefined) !== (agentTlsKey === undefined)) {
    throw new Error('--agent-tls-cert and --agent-tls-key belong together: give both, or none')
  }
  if (port === undefined) {
    if (agentTlsCert !== undefined) throw new Error('--agent-tls-cert needs --agent-port')
    return null
  }
  if (monitor === 'off') throw new Error('--agent-port needs --monitor on: with off nothing is checked')
  if (agentTlsCert !== undefined && agentTlsKey !== undefined) {
    return { host, port, tls: readTls(agentTlsCert, agentTlsKey) }
  }
  return { host, port }
}

function readTls(certFile: string, keyFile: string): { readonly cert: Buffer; readonly key: Buffer } {
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  try {
    createSecureContext(tls)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${certFile} and ${keyFile} are no certificate and its key (${reason})`)
  }
  return tls
}
