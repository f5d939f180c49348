import type { SyncRequest } from './messages.ts'

/** How busy an agent is, and what is wrong with it. */
export type AgentLoad = SyncRequest['load']

/** A metric of an agent. Those named `_total` only grow until its next start. */
export interface AgentFigure {
  readonly name: string
  readonly help: string
  readonly value: (load: AgentLoad) => number
}

/** Metrics of an agent, as it shows them itself and as the server shows them of each of its agents. */
export const AGENT_FIGURES: readonly AgentFigure[] = [
  {
    name: 'pharos_agent_checks_in_flight',
    help: 'Checks under way',
    value: ({ in_flight }) => in_flight,
  },
  {
    name: 'pharos_agent_scheduler_lag_seconds',
    help: 'Start of checks behind their slot, 99th percentile',
    value: ({ lag_p99_ms }) => lag_p99_ms / 1_000,
  },
  {
    name: 'pharos_agent_suspect',
    help: '1 while nearly all hosts are out of reach at once, so that results are unknown',
    value: ({ suspect }) => Number(suspect),
  },
  {
    name: 'pharos_agent_clock_offset_seconds',
    help: 'Wall clock of the machine of the agent, less the clock of the server',
    value: ({ clock_ahead_ms }) => clock_ahead_ms / 1_000,
  },
  {
    name: 'pharos_agent_results_waiting',
    help: 'Results that wait for the server in the spool',
    value: ({ spooled }) => spooled,
  },
  {
    name: 'pharos_agent_results_dropped_total',
    help: 'Results that were given up because the spool was full or damaged',
    value: ({ dropped }) => dropped,
  },
  {
    name: 'pharos_agent_slots_skipped_total',
    help: 'Slots that were noticed too late',
    value: ({ skipped }) => skipped,
  },
]
