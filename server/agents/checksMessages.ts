import type { PortResponse, PortRequest } from '../../monitoring/agent/portLink.ts'
import type { AgentLoad } from '../../monitoring/protocol/agentStats.ts'

/** Settings of the checks thread. */
export interface ChecksSettings {
  /** A UUID, new at each start. */
  readonly instance: string
  readonly version: string
  /** Private address ranges that checks may reach. */
  readonly allowedRanges: readonly string[]
  /** URL of the proxy for checks; without a proxy when absent. */
  readonly proxy?: string | undefined
}

/** Messages to the thread. */
export type ToChecks =
  | { readonly kind: 'regions'; readonly regions: readonly string[] }
  | { readonly kind: 'response'; readonly response: PortResponse }
  | { readonly kind: 'stop' }

/** Messages from the thread. */
export type FromChecks =
  | { readonly kind: 'request'; readonly request: PortRequest }
  /** Heartbeat, once a second. */
  | { readonly kind: 'beat'; readonly load: AgentLoad }
  | { readonly kind: 'trouble'; readonly region: string; readonly reason: string }
