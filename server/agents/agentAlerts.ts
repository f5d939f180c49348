import type { Logger } from 'pino'
import type { AgentLoad } from '../../monitoring/protocol/agentFigures.ts'

/** From here on the clock of an agent's machine is wrong (milliseconds). Its checks are right all the same. */
const CLOCK_MS_MAX = 30_000

/** How an agent is called: the one within the server has neither region nor instance. */
export interface AgentName {
  readonly region: string
  readonly agent: string
  readonly instance: string
}

/** Logs what became wrong with an agent between two reports, or right again: each change once. */
export function logAlerts(
  log: Logger,
  name: AgentName,
  before: AgentLoad | undefined,
  { suspect, clock_ahead_ms: aheadMs }: AgentLoad,
): void {
  if (suspect && before?.suspect !== true) {
    log.error(name, 'nearly all hosts are out of reach of an agent: its results are unknown')
  } else if (!suspect && before?.suspect === true) log.info(name, 'an agent reaches its hosts again')
  const isWrong = (ms: number) => Math.abs(ms) > CLOCK_MS_MAX
  if (isWrong(aheadMs) && !isWrong(before?.clock_ahead_ms ?? 0)) {
    log.warn({ ...name, offsetS: Math.round(aheadMs / 1_000) }, "the clock of an agent's machine is wrong")
  }
}
