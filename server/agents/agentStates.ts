import { timestamp } from '../domain/environment.ts'
import type { StoredAgentToken } from '../store/monitoringStore.ts'

/** Age of a report from which agents count as away (milliseconds): a running server stores reports every 15 s. */
const NOTED_MS = 60_000

/** An agent token in the output of `agent list --json`; fields are `null` before the first report. */
export interface ShownAgentToken extends Omit<StoredAgentToken, 'report'> {
  /** `unused`: no agent has used it. `away`: its agents stopped or were lost, or the server does not run. */
  readonly state: 'unused' | 'connected' | 'away' | 'revoked'
  readonly lastSeenAt: string | null
  /** Number of connected agents. */
  readonly agents: number
  readonly version: string | null
  readonly clockAheadMs: number | null
  readonly spooled: number | null
  readonly checksInFlight: number | null
}

/** `token` with its state at `nowMs` (milliseconds since the epoch). Pure. */
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
