import type { PrepareCheck } from './checkReport.ts'
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
  readonly prepare: PrepareCheck
  /** Milliseconds of a clock that only runs forward. */
  readonly monotonicMs: () => number
  readonly onError: SessionParts['onError']
}

/** Checks what the server wants checked in some regions, and reports it. */
export class Agent {
  readonly #parts: SessionParts
  readonly #results: ResultQueue
  readonly #sessions = new Map<string, RegionSession>()

  constructor({ prepare, ...parts }: AgentParts) {
    const clock = new ServerClock(parts.monotonicMs)
    const results = new ResultQueue(parts.link, parts.instance, () => clock.nowMs)
    const runner = new Runner({
      nowMs: () => clock.nowMs,
      prepare,
      onResult: (result) => results.push(result),
    })
    this.#results = results
    this.#parts = { ...parts, clock, runner }
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

  /** Starts nothing any more, and hands over what was found. */
  async stop(): Promise<void> {
    this.#parts.runner.stop()
    await this.setRegions([])
    await this.#results.flush()
  }
}
