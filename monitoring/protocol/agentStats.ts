import type { SyncRequest } from './messages.ts'

/** The load and the faults of an agent. */
export type AgentLoad = SyncRequest['load']

/** A metric of an agent. Those named `_total` only increase until its next start. */
export interface AgentMetric {
  readonly name: string
  readonly help: string
  readonly value: (load: AgentLoad) => number
}

/** Metrics of an agent, on its own page and, for each agent, on the server's. */
export const AGENT_METRICS: readonly AgentMetric[] = [
  {
    name: 'pharos_agent_checks_in_flight',
    help: 'Checks in progress',
    value: ({ in_flight }) => in_flight,
  },
  {
    name: 'pharos_agent_scheduler_lag_seconds',
    help: 'Delay of checks after the start of their slot, 99th percentile',
    value: ({ lag_p99_ms }) => lag_p99_ms / 1_000,
  },
  {
    name: 'pharos_agent_suspect',
    help: '1 while the agent reaches almost none of its hosts, so that their results are unknown',
    value: ({ suspect }) => Number(suspect),
  },
  {
    name: 'pharos_agent_clock_offset_seconds',
    help: "Wall clock of the agent's machine minus the clock of the server",
    value: ({ clock_ahead_ms }) => clock_ahead_ms / 1_000,
  },
  {
    name: 'pharos_agent_results_waiting',
    help: 'Results in the spool that wait for the server',
    value: ({ spooled }) => spooled,
  },
  {
    name: 'pharos_agent_results_dropped_total',
    help: 'Results dropped because the spool was full or damaged',
    value: ({ dropped }) => dropped,
  },
  {
    name: 'pharos_agent_slots_skipped_total',
    help: 'Slots skipped because they were noticed too late',
    value: ({ skipped }) => skipped,
  },
]
