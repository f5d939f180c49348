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
  /** '' where it is about a region. */
  readonly serviceId: string
  readonly kind: string
  /** JSON, of a shape that follows from `kind`. */
  readonly body: string
}

/** What a transition changed; `incident` is a display id. */
export type AppliedEffect =
  | { readonly kind: 'nothing' }
  /** A notice that was not given before; the transition says what it is about. */
  | { readonly kind: 'noticed' }
  | { readonly kind: 'opened' | 'updated' | 'resolved'; readonly incident: string }
  /** What was due was not written, for a reason that does not pass by itself. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Data for monitoring: current definitions, and changes of them. */
export interface MonitoringStore {
  /** Services by id, those after `serviceId` ('' for all), at most `countMax` and some MiB; empty only at the end. */
  definitionsAfter(serviceId: string, countMax: number): Promise<readonly StoredDefinition[]>
  /** `undefined` when there is no such service. */
  definitionOf(serviceId: string): Promise<StoredDefinition | undefined>
  /** Sequence of the newest command before which none is missing; 0 before the first. */
  newestCommand(): Promise<number>
  /** Sequence of the newest deleted command; a reader before it has missed something. */
  commandsForgottenUpTo(): Promise<number>
  /**
   * Services with commands after `after` and up to `upTo`, of one region or any, by their newest command. Several may have
   * one sequence, and then come together: there may be some more than `countMax`.
   */
  changedServices(range: {
    readonly after: number
    readonly upTo: number
    readonly region?: string
    readonly countMax: number
  }): Promise<readonly { readonly serviceId: string; readonly sequence: number }[]>
  /** Sequence of the newest change without a command; 0 before the first. */
  newestQuietChange(): Promise<number>
  /** Services with such changes after `after`, by their newest one; those with one sequence come together. */
  quietChanges(
    after: number,
    countMax: number,
  ): Promise<readonly { readonly serviceId: string; readonly sequence: number }[]>
  /** How long history is stored, by organisation, and maintenance windows that end after `endAfterMs`. */
  historyPolicy(endAfterMs: number): Promise<HistoryPolicy>
  /** Numbers of the endpoints of a service, by their ids, including removed ones. */
  endpointNumbers(serviceId: string): Promise<ReadonlyMap<string, number>>
  /** Assigns numbers to endpoints without one. */
  numberEndpoints(endpoints: readonly { readonly id: string; readonly serviceId: string }[]): Promise<void>
  /** Configured modes by region code; `embedded` for all others. */
  regionModes(): Promise<ReadonlyMap<string, RegionMode>>
  setRegionMode(region: string, mode: RegionMode): Promise<void>
  /** Sequence of the newest applied transition of a results database; 0 before the first. */
  appliedTransition(resultsFile: string): Promise<number>
  /**
   * Applies a transition of a file of results, the next one behind `after`, and marks it as applied in the same transaction.
   * Rejects when another one was applied last.
   */
  applyTransition(resultsFile: string, after: number, transition: Transition): Promise<AppliedEffect>
}

/** Permission to report results of a region. */
export interface AgentToken {
  readonly id: string
  readonly region: string
  readonly name: string
}

/** What the agents of a token last said of themselves: the server writes it down every 15 s, and when it changes. */
export interface AgentSighting {
  readonly tokenId: string
  /** When the latest of them asked or reported (milliseconds since the epoch). */
  readonly seenAtMs: number
  /** How many there are; 0 since the last one left or was lost. */
  readonly agents: number
  /** Their versions, each once. */
  readonly version: string
  /** Their clock, that is furthest from the server's, less that (milliseconds). */
  readonly clockAheadMs: number
  /** Results in their spools, and checks under way. */
  readonly spooled: number
  readonly checksInFlight: number
}

export interface StoredAgentToken extends AgentToken {
  readonly last4: string
  readonly createdAt: string
  readonly revokedAt: string | null
  /** `null` for a token that no agent has used. */
  readonly sighting: AgentSighting | null
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
  /** Replaces what is known of the agents of these tokens. */
  noteAgents(sightings: readonly AgentSighting[]): Promise<void>
}
