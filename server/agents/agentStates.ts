import { timestamp } from '../domain/environment.ts'
import type { StoredAgentToken } from '../store/monitoringStore.ts'

/** Agents that the server did not note for this long are away, as when it does not run: it notes them every 15 s (milliseconds). */
const NOTED_MS = 60_000

/** A token of agents as `agent list --json` prints it; `null` for what no agent has said yet. */
export interface ShownAgentToken extends Omit<StoredAgentToken, 'report'> {
  /** `unused`: no agent has used it yet. `away`: its agents stopped, were lost, or the server does not run. */
  readonly state: 'unused' | 'connected' | 'away' | 'revoked'
  readonly lastSeenAt: string | null
  /** How many agents are connected. */
  readonly agents: number
  readonly version: string | null
  readonly clockAheadMs: number | null
  readonly spooled: number | null
  readonly checksInFlight: number | null
}

/** `token` as it is shown at `nowMs` (milliseconds since the epoch). Pure. */
export function shownAgentToken({ report, ...token }: StoredAgentToken, nowMs: number): ShownAgentToken {
  const isConnected =
    report !== null && report.agents > 0 && nowMs - report.seenAtMs < NOTED_MS && token.revokedAt === null
  const state = isConnected ? 'connected' : report === null ? 'unused' : 'away'
  return {
    ...token,
    state: token.revokedAt === null ? state : 'revoked',
    lastSeenAt: report === null ? null : timestamp(report.seenAtMs),
    agents: isConnected ? report.agents : 0,
    version: report?.version ?? null,
    clockAheadMs: report?.clockAheadMs ?? null,
    spooled: report?.spooled ?? null,
    checksInFlight: report?.checksInFlight ?? null,
  }
}

/** The columns of `agent list`. */
export const AGENT_COLUMNS = [
  ...['ID', 'REGION', 'NAME', 'LAST4', 'STATE', 'LAST SEEN', 'VERSION', 'AGENTS', 'CLOCK', 'SPOOL', 'CHECKS'],
  ...['CREATED', 'REVOKED'],
] as const

/** `token` as a row of AGENT_COLUMNS; what no agent has said yet is `-`. Pure. */
export function agentCells(token: ShownAgentToken): readonly string[] {
  const { id, region, name, last4, state, agents, clockAheadMs, createdAt, revokedAt } = token
  const clock = clockAheadMs === null ? null : `${(clockAheadMs / 1_000).toFixed(1)} s`
  const said = [token.lastSeenAt, token.version, agents, clock, token.spooled, token.checksInFlight]
  return [
    ...[id, region, name, last4, state],
    ...said.map((value) => String(value ?? '-')),
    createdAt,
    revokedAt ?? '-',
  ]
}
