import type { HistoryPolicy } from '../domain/historyPolicy.ts'

/** Where the checks of a region run: in the server, in remote agents, or nowhere. */
export const REGION_MODES = ['embedded', 'remote', 'off'] as const
export type RegionMode = (typeof REGION_MODES)[number]

/** A monitored service. */
export interface StoredDefinition {
  readonly id: string
  readonly orgId: string
  /** Generation of its last published definition. */
  readonly generation: number
  /** Codes of its active regions; none while it is paused. */
  readonly runningIn: readonly string[]
  /** ServiceResponse as JSON. */
  readonly text: string
}

/** A transition of a file of results. */
export interface Transition {
  /** Its place in the file. */
  readonly sequence: number
  /** Seconds since the epoch. */
  readonly atS: number
  /** '' when it concerns a region. */
  readonly serviceId: string
  readonly kind: string
  /** JSON; `kind` determines its shape. */
  readonly body: string
}

/** Effect of a transition; `incident` is a display id. */
export type AppliedEffect =
  | { readonly kind: 'nothing' }
  /** A new notice; the transition has its content. */
  | { readonly kind: 'noticed' }
  | { readonly kind: 'opened' | 'updated' | 'resolved'; readonly incident: string }
  /** The change was refused, for a reason that retries do not remove. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Data for monitoring: current definitions, and changes of them. */
export interface MonitoringStore {
  /** Services ordered by id, after `serviceId` ('' for all), at most `countMax` and some MiB; empty only at the end. */
  definitionsAfter(serviceId: string, countMax: number): Promise<readonly StoredDefinition[]>
  /** `undefined` when there is no such service. */
  definitionOf(serviceId: string): Promise<StoredDefinition | undefined>
  /** Sequence of the newest command that all earlier ones precede; 0 before the first. */
  newestCommand(): Promise<number>
  /** Sequence of the newest deleted command; a reader before it has missed commands. */
  commandsForgottenUpTo(): Promise<number>
  /**
   * Services with commands after `after` and up to `upTo`, of one region or any, ordered by their newest command.
   * Services with the same sequence come together, so there may be more than `countMax`.
   */
  changedServices(range: {
    readonly after: number
    readonly upTo: number
    readonly region?: string
    readonly countMax: number
  }): Promise<readonly { readonly serviceId: string; readonly sequence: number }[]>
  /** Sequence of the newest change without a command; 0 before the first. */
  newestQuietChange(): Promise<number>
  /**
   * Services with changes without a command after `after`, ordered by the newest one; those with the same sequence come
   * together.
   */
  quietChanges(
    after: number,
    countMax: number,
  ): Promise<readonly { readonly serviceId: string; readonly sequence: number }[]>
  /** How long history is stored, by organisation, and maintenance windows that end after `endAfterMs`. */
  historyPolicy(endAfterMs: number): Promise<HistoryPolicy>
  /** Numbers of the endpoints of services, by their ids, including removed ones. */
  endpointNumbers(serviceIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Assigns numbers to endpoints without one. */
  numberEndpoints(endpoints: readonly { readonly id: string; readonly serviceId: string }[]): Promise<void>
  /** Configured modes by region code; `embedded` for all others. */
  regionModes(): Promise<ReadonlyMap<string, RegionMode>>
  setRegionMode(region: string, mode: RegionMode): Promise<void>
  /** Sequence of the newest applied transition of a results database; 0 before the first. */
  appliedTransition(resultsFile: string): Promise<number>
  /**
   * Applies the transition after `after` of a results file and marks it as applied, in one transaction. Rejects when
   * another transition was applied last.
   */
  applyTransition(resultsFile: string, after: number, transition: Transition): Promise<AppliedEffect>
}

/** Permission to report results of a region. */
export interface AgentToken {
  readonly id: string
  readonly region: string
  readonly name: string
}

/** The last state that the agents of a token reported. Stored every 15 s, and when their number or version changes. */
export interface AgentReport {
  readonly tokenId: string
  /** Last request of any of them (milliseconds since the epoch). */
  readonly seenAtMs: number
  /** Number of connected agents; 0 after the last one disconnected. */
  readonly agents: number
  /** Their distinct versions. */
  readonly version: string
  /** Largest difference of an agent's clock from the server's (milliseconds); positive when it is ahead. */
  readonly clockAheadMs: number
  /** Results in their spools, and checks in flight. */
  readonly spooled: number
  readonly checksInFlight: number
}

export interface StoredAgentToken extends AgentToken {
  readonly last4: string
  readonly createdAt: string
  readonly revokedAt: string | null
  /** `null` for a token that no agent has used. */
  readonly report: AgentReport | null
}

/** Tokens of agents on other machines. */
export interface AgentTokenStore {
  /** The region becomes `remote` with its first token that is not revoked. */
  createAgentToken(
    token: AgentToken & { readonly hash: Buffer; readonly last4: string; readonly nowMs: number },
  ): Promise<void>
  /** All tokens, including revoked ones, in creation order. */
  listAgentTokens(): Promise<readonly StoredAgentToken[]>
  /** Rejects with `not_found` when there is no token with this id. */
  revokeAgentToken(id: string, nowMs: number): Promise<void>
  /** The token of this hash; `undefined` when it is unknown or revoked. */
  agentTokenOf(hash: Buffer): Promise<AgentToken | undefined>
  /** Replaces the reports of these tokens. */
  recordAgentReports(reports: readonly AgentReport[]): Promise<void>
}
