import type { Logger } from 'pino'
import type { AgentLoad } from '../../monitoring/protocol/agentStats.ts'

/** Clock difference from which an agent's clock counts as wrong (milliseconds). Its checks are still correct. */
const CLOCK_MS_MAX = 30_000

/** Name of an agent; the embedded agent has neither region nor instance. */
export interface AgentName {
  readonly region: string
  readonly agent: string
  readonly instance: string
}

/** Logs problems of an agent that began or ended between two reports, each once. */
export function logAlerts(
  log: Logger,
  name: AgentName,
  before: AgentLoad | undefined,
  { suspect, clock_ahead_ms: aheadMs }: AgentLoad,
): void {
  if (suspect && before?.suspect !== true) {
    log.error(name, 'an agent reaches almost none of its hosts: its results are unknown')
  } else if (!suspect && before?.suspect === true) log.info(name, 'an agent reaches its hosts again')
  const isWrong = (ms: number) => Math.abs(ms) > CLOCK_MS_MAX
  if (isWrong(aheadMs) && !isWrong(before?.clock_ahead_ms ?? 0)) {
    log.warn({ ...name, offsetS: Math.round(aheadMs / 1_000) }, "the clock of an agent's machine is wrong")
  }
}
