import type { AgentLoad } from '../protocol/agentStats.ts'
import { type Backlog, memoryBacklog } from './backlog.ts'
import type { CheckLibrary } from './checkReport.ts'
import type { Link } from './link.ts'
import { RegionSession, type SessionParts } from './regionSession.ts'
import { ResultQueue } from './resultQueue.ts'
import { Runner } from './runner.ts'
import { ServerClock } from './serverClock.ts'

/** Settings and dependencies of an agent. */
export interface AgentParts {
  readonly link: Link
  /** A UUID, new at each start. */
  readonly instance: string
  readonly version: string
  readonly library: CheckLibrary
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** The machine's own clock (milliseconds since the epoch), which is only reported. */
  readonly wallMs: () => number
  /** Stores results that the server did not accept; in memory when absent. */
  readonly backlog?: Backlog
  readonly onError: SessionParts['onError']
  readonly onSync?: SessionParts['onSync']
  readonly onRefused?: SessionParts['onRefused']
  /** Called when the agent starts or stops suspecting its own network. */
  readonly onSuspect?: (isSuspect: boolean) => void
  /** Called with each fault of this machine: a check that could not run, or results that could not be written. */
  readonly onLocalFault?: (fault: LocalFault, text: string) => void
}

/** The operation of the agent's machine that failed. */
export type LocalFault = 'check' | 'spool'

/** Runs the checks that the server assigns in some regions, and reports the results. */
export class Agent {
  readonly #parts: SessionParts
  readonly #results: ResultQueue
  readonly #sessions = new Map<string, RegionSession>()

  constructor({
    wallMs,
    backlog = memoryBacklog(),
    onSuspect = () => {},
    onLocalFault = () => {},
    ...parts
  }: AgentParts) {
    const { link, instance, library, monotonicMs, onError } = parts
    const clock = new ServerClock(monotonicMs)
    const nowMs = () => clock.nowMs
    const results = new ResultQueue({
      ...{ link, instance, nowMs, monotonicMs, backlog },
      onError: (error) => onError(error, ''),
      onSpoolError: (error) => onLocalFault('spool', error instanceof Error ? error.message : String(error)),
    })
    const runner = new Runner({
      ...{ nowMs, monotonicMs, onSuspect, prepare: library.prepare },
      onLocalFault: (text) => onLocalFault('check', text),
      onResult: (result) => results.push(result),
    })
    this.#results = results
    this.#parts = {
      onSync: () => {},
      onRefused: (error) => onError(error, ''),
      ...parts,
      clock,
      runner,
      load: () => {
        const { waiting, dropped } = results.stats
        const aheadMs = clock.isSet ? Math.round(wallMs() - clock.nowMs) : 0
        return { spooled: waiting, dropped, clock_ahead_ms: aheadMs }
      },
    }
  }

  /** The agent's load, and the number of results that the server refused. */
  get stats(): AgentLoad & { readonly refused: number } {
    return { ...this.#parts.runner.load, ...this.#parts.load(), refused: this.#results.stats.refused }
  }

  /** From now on checks only in these regions. Resolves when checks in other regions have ended. */
  async setRegions(regions: readonly string[]): Promise<void> {
    const ending = [...this.#sessions].filter(([region]) => !regions.includes(region))
    for (const region of regions) {
      if (!this.#sessions.has(region)) this.#sessions.set(region, new RegionSession(region, this.#parts))
    }
    for (const [region] of ending) this.#sessions.delete(region)
    await Promise.all(ending.map(([, session]) => session.stop()))
  }

  /** Starts no further checks, leaves the regions to other agents, and delivers the remaining results. */
  async stop(): Promise<void> {
    this.#parts.runner.stop()
    await this.setRegions([])
    await this.#results.stop()
  }
}
