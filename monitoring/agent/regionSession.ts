import type { AgentLoad } from '../protocol/agentStats.ts'
import { readSyncResponse } from '../protocol/messageProblem.ts'
import { PROTOCOL, WAIT_MS_MAX } from '../protocol/messages.ts'
import { Assignments } from './assignments.ts'
import type { CheckLibrary } from './checkReport.ts'
import { type Link, LinkError, type LinkSyncRequest } from './link.ts'
import type { Runner } from './runner.ts'
import type { ServerClock } from './serverClock.ts'

/** Pauses before a failed sync is retried (milliseconds). The last one repeats. */
const SYNC_AGAIN_MS = [250, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Maximum random fraction by which a pause is shortened, so that agents do not all return at once. */
const JITTER = 0.25
/**
 * Number of consecutive inventory differences after which everything is requested again. At the first, a change may
 * still be on its way.
 */
const DIFFERENCES_MAX = 2
/**
 * Time without a response after which an agent ends its checks (milliseconds), so that a forgotten agent does not send
 * requests forever.
 */
const WITHOUT_SERVER_MS_MAX = 24 * 60 * 60 * 1_000
/** Time that a stopping agent waits for the server to confirm (milliseconds). */
const LEAVING_MS_MAX = 5_000
const UNAUTHORIZED = 401

/** The parts that the sessions of all regions share. */
export interface SessionParts {
  readonly link: Link
  readonly instance: string
  readonly version: string
  readonly clock: ServerClock
  readonly runner: Runner
  readonly library: Pick<CheckLibrary, 'restrict'>
  readonly monotonicMs: () => number
  /** Stats of the agent other than the runner's. */
  readonly load: () => Omit<AgentLoad, keyof Runner['load']>
  /** Called with each error; the session continues. */
  readonly onError: (error: unknown, region: string) => void
  /** Called after each response. */
  readonly onSync: () => void
  /**
   * Called when the server refuses the agent's token. The session has then ended its checks and sends no more requests.
   */
  readonly onRefused: (error: LinkError) => void
}

/** Keeps the checks of an agent in one region as the server assigns them, until it is stopped. */
export class RegionSession {
  readonly #parts: SessionParts
  readonly #region: string
  readonly #assignments: Assignments
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #cursor: string | null = null
  #epoch = 0
  #differences = 0
  #failures = 0
  #respondedMs: number

  constructor(region: string, parts: SessionParts) {
    this.#parts = parts
    this.#region = region
    this.#assignments = new Assignments(parts.instance)
    this.#respondedMs = parts.monotonicMs()
    this.#ended = this.#follow()
  }

  /** Ends every check of the region and tells the server. Resolves when no more requests are sent. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#forget()
    await this.#ended
    if (this.#epoch === 0) return
    try {
      const request = { ...this.#request(), leaving: true, wait_ms: 0 }
      await this.#parts.link.sync(this.#region, request, AbortSignal.timeout(LEAVING_MS_MAX))
    } catch {
      // The server will notice on its own.
    }
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#sync()
        this.#failures = 0
      } catch (error) {
        if (this.#stop.signal.aborted) return
        if (error instanceof LinkError && error.status === UNAUTHORIZED) return this.#endRefused(error)
        this.#parts.onError(error, this.#region)
        if (this.#parts.monotonicMs() - this.#respondedMs > WITHOUT_SERVER_MS_MAX) this.#forget()
        await this.#pause()
      }
    }
  }

  async #sync(): Promise<void> {
    const { link, clock, runner, library, monotonicMs, onSync } = this.#parts
    const sentMs = monotonicMs()
    const response = readSyncResponse(await link.sync(this.#region, this.#request(), this.#stop.signal))
    if (this.#stop.signal.aborted) return
    this.#respondedMs = monotonicMs()
    // The time in a delayed response is that of the response, not of the request.
    const hasMoved = clock.take(response.now_ms, sentMs + response.waited_ms, this.#respondedMs)
    library.restrict(response)
    const { started, endedSeries } = this.#assignments.take(response)
    runner.end(endedSeries)
    for (const service of started) runner.start(response.region, service, response.store)
    if (hasMoved) runner.wake()
    this.#cursor = response.cursor
    this.#epoch = response.epoch
    const isDifferent = response.inventory === 'different' && !response.more && started.length === 0
    this.#differences = isDifferent ? this.#differences + 1 : 0
    onSync()
    if (this.#differences < DIFFERENCES_MAX) return
    this.#differences = 0
    this.#cursor = null
  }

  /** Ends every check, and starts over with the next response. */
  #forget(): void {
    this.#parts.runner.end(this.#assignments.endAll())
    this.#cursor = null
  }

  #endRefused(error: LinkError): void {
    this.#forget()
    this.#epoch = 0
    this.#parts.onRefused(error)
  }

  #request(): LinkSyncRequest {
    const { instance, version, runner, load } = this.#parts
    return {
      protocol: PROTOCOL,
      instance,
      version,
      epoch: this.#epoch,
      cursor: this.#cursor,
      inventory: this.#assignments.inventory,
      wait_ms: WAIT_MS_MAX,
      leaving: false,
      load: { ...runner.load, ...load() },
    }
  }

  #pause(): Promise<void> {
    const pauseMs = SYNC_AGAIN_MS[Math.min(this.#failures, SYNC_AGAIN_MS.length - 1)] ?? 0
    this.#failures += 1
    return new Promise((resolve) => {
      const { signal } = this.#stop
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, pauseMs * (1 - JITTER * Math.random()))
      signal.addEventListener('abort', end)
    })
  }
}
