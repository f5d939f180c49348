import type { AgentLoad } from '../protocol/agentFigures.ts'
import { type Backlog, memoryBacklog } from './backlog.ts'
import type { CheckLibrary } from './checkReport.ts'
import type { Link } from './link.ts'
import { RegionSession, type SessionParts } from './regionSession.ts'
import { ResultQueue } from './resultQueue.ts'
import { Runner } from './runner.ts'
import { ServerClock } from './serverClock.ts'

/** What an agent is started with. */
export interface AgentParts {
  readonly link: Link
  /** A UUID, made at each start. */
  readonly instance: string
  readonly version: string
  readonly library: CheckLibrary
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** The machine's own clock (milliseconds since the epoch), which is only reported. */
  readonly wallMs: () => number
  /** Where results wait that the server did not take; in memory when absent. */
  readonly backlog?: Backlog
  readonly onError: SessionParts['onError']
  readonly onSync?: SessionParts['onSync']
  readonly onRefused?: SessionParts['onRefused']
  /** Called when the agent begins or ceases to doubt its own network. */
  readonly onSuspect?: (isSuspect: boolean) => void
  /** Called with each fault of this machine: a check that it could not make, or results that it could not write. */
  readonly onLocalFault?: (fault: LocalFault, text: string) => void
}

/** What the machine of an agent could not do. */
export type LocalFault = 'check' | 'spool'

/** Checks what the server wants checked in some regions, and reports it. */
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
        const { waiting, dropped } = results.figures
        const aheadMs = clock.isSet ? Math.round(wallMs() - clock.nowMs) : 0
        return { spooled: waiting, dropped, clock_ahead_ms: aheadMs }
      },
    }
  }

  /** What is reported of the agent, and how many results the server refused. */
  get figures(): AgentLoad & { readonly refused: number } {
    return { ...this.#parts.runner.load, ...this.#parts.load(), refused: this.#results.figures.refused }
  }

  /** Checks in these regions from now on, and in no other. Resolves when the others have ended. */
  async setRegions(regions: readonly string[]): Promise<void> {
    const ending = [...this.#sessions].filter(([region]) => !regions.includes(region))
    for (const region of regions) {
      if (!this.#sessions.has(region)) this.#sessions.set(region, new RegionSession(region, this.#parts))
    }
    for (const [region] of ending) this.#sessions.delete(region)
    await Promise.all(ending.map(([, session]) => session.stop()))
  }

  /** Starts nothing any more, leaves the region to others, and hands over what was found. */
  async stop(): Promise<void> {
    this.#parts.runner.stop()
    await this.setRegions([])
    await this.#results.stop()
  }
}
