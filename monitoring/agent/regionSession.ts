import { PROTOCOL, type SyncRequest, syncAnswerSchema, WAIT_MS_MAX } from '../protocol/messages.ts'
import { Assigned } from './assigned.ts'
import type { Link } from './link.ts'
import type { Runner } from './runner.ts'
import type { ServerClock } from './serverClock.ts'

/** Pauses before a sync that failed is tried again: the last one from then on (milliseconds). */
const SYNC_AGAIN_MS = [250, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Different inventories in a row after which everything is asked for: a change may be on its way at the first. */
const DIFFERENCES_MAX = 2

/** What a session shares with those of other regions. */
export interface SessionParts {
  readonly link: Link
  readonly instance: string
  readonly version: string
  readonly clock: ServerClock
  readonly runner: Runner
  readonly monotonicMs: () => number
  /** Called with what went wrong; the session goes on. */
  readonly onError: (error: unknown, region: string) => void
}

/** Keeps what an agent runs in one region as the server wants it, until it is stopped. */
export class RegionSession {
  readonly #parts: SessionParts
  readonly #region: string
  readonly #assigned = new Assigned()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #cursor: string | null = null
  #differences = 0
  #failures = 0

  constructor(region: string, parts: SessionParts) {
    this.#parts = parts
    this.#region = region
    this.#ended = this.#follow()
  }

  /** Ends every check of the region; resolves when nothing is asked any more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#parts.runner.end(this.#assigned.endAll())
    await this.#ended
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#sync()
        this.#failures = 0
      } catch (error) {
        if (this.#stop.signal.aborted) return
        this.#parts.onError(error, this.#region)
        await this.#pause()
      }
    }
  }

  async #sync(): Promise<void> {
    const { link, clock, runner, monotonicMs } = this.#parts
    const sentMs = monotonicMs()
    const answer = syncAnswerSchema.parse(await link.sync(this.#region, this.#request(), this.#stop.signal))
    if (this.#stop.signal.aborted) return
    // An answer that was waited for says when it was given, not when it was asked for.
    const answeredMs = monotonicMs()
    clock.take(answer.now_ms, Math.max(sentMs, answeredMs - 1), answeredMs)
    const { started, endedSeries } = this.#assigned.take(answer)
    runner.end(endedSeries)
    for (const service of started) runner.start(this.#region, service, answer.store)
    this.#cursor = answer.cursor
    const isDifferent = answer.inventory === 'different' && !answer.more && started.length === 0
    this.#differences = isDifferent ? this.#differences + 1 : 0
    if (this.#differences < DIFFERENCES_MAX) return
    this.#differences = 0
    this.#cursor = null
  }

  #request(): SyncRequest {
    const { instance, version, runner } = this.#parts
    return {
      protocol: PROTOCOL,
      instance,
      version,
      cursor: this.#cursor,
      inventory: this.#assigned.inventory,
      wait_ms: WAIT_MS_MAX,
      leaving: false,
      load: runner.load,
    }
  }

  #pause(): Promise<void> {
    const pauseMs = SYNC_AGAIN_MS[Math.min(this.#failures, SYNC_AGAIN_MS.length - 1)] ?? 0
    this.#failures += 1
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs)
      this.#stop.signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
