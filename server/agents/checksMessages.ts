import type { PortAnswer, PortRequest } from '../../monitoring/agent/portLink.ts'
import type { AgentLoad } from '../../monitoring/protocol/agentFigures.ts'

/** What the thread of checks is started with. */
export interface ChecksSettings {
  /** A UUID, made at each start. */
  readonly instance: string
  readonly version: string
  /** Private ranges that may be checked. */
  readonly allowedRanges: readonly string[]
}

/** What the thread is sent. */
export type ToChecks =
  | { readonly kind: 'regions'; readonly regions: readonly string[] }
  | { readonly kind: 'answer'; readonly answer: PortAnswer }
  | { readonly kind: 'stop' }

/** What the thread sends. */
export type FromChecks =
  | { readonly kind: 'request'; readonly request: PortRequest }
  /** Once a second, as long as the thread has its turns. */
  | { readonly kind: 'beat'; readonly load: AgentLoad }
  | { readonly kind: 'trouble'; readonly region: string; readonly reason: string }
