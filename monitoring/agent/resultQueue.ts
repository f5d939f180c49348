import { BATCH_RESULTS_MAX, PROTOCOL, type ResultsRequest } from '../protocol/messages.ts'
import type { Backlog } from './backlog.ts'
import { type Link, LinkError } from './link.ts'
import { type PendingResult, type QueuedResult, queuedResult } from './queuedResult.ts'

/** Time for which results are collected before they are sent (milliseconds). */
const GATHER_MS = 200
/** Pause between batches of the backlog: at most twenty a second (milliseconds). */
const BACKLOG_PAUSE_MS = 50
/** Age from which results that were not accepted go to the backlog (milliseconds). */
const BACKLOG_AGE_MS = 5_000
/** Interval of that check (milliseconds). A crash loses at most this much more. */
const BACKLOG_LOOK_MS = 1_000
/** Pauses before results that were not accepted are sent again (milliseconds). The last one repeats. */
const SEND_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Maximum random fraction by which a pause is shortened, so that agents do not all return at once. */
const JITTER = 0.25
/** Statuses that refuse the message itself, which would be refused again. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 413])

/** Dependencies of a queue. */
export interface QueueParts {
  readonly link: Link
  readonly instance: string
  /** The server's clock (milliseconds since the epoch). */
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly backlog: Backlog
  /** Called with each error; the queue continues. */
  readonly onError: (error: unknown) => void
  /** Called when the backlog could not be written. Results then stay in memory. */
  readonly onSpoolError: (error: unknown) => void
}

interface Live {
  readonly result: QueuedResult
  readonly sinceMs: number
}

interface Batch {
  readonly source: 'live' | 'newest' | 'backlog'
  readonly results: readonly QueuedResult[]
}

/**
 * Results between checks and server. They are sent in batches, one at a time, and again until they are accepted. Those
 * not accepted in time go to the backlog. When the server is back, the newest result of each series is sent first, so
 * that states are correct immediately; then the backlog, with live results in between.
 */
export class ResultQueue {
  readonly #parts: QueueParts
  #live: Live[] = []
  /** The newest result of each series in the backlog, since it was last delivered. */
  readonly #newest = new Map<number, QueuedResult>()
  /** Results to send before the backlog. */
  #urgent: QueuedResult[] = []
  /** The part of the backlog that is being sent; `undefined` before it has been read. */
  #part: QueuedResult[] | undefined
  /** Whether the backlog has results of an earlier process, whose newest ones are not known yet. */
  #isInherited: boolean
  #batch = 0
  #batchMax = BATCH_RESULTS_MAX
  #failures = 0
  #refused = 0
  /** Number of results dropped because the backlog could not be written. */
  #dropped = 0
  #wasLive = false
  #timer: NodeJS.Timeout | undefined
  #looking: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #isStopped = false

  constructor(parts: QueueParts) {
    this.#parts = parts
    this.#isInherited = parts.backlog.count > 0
    if (parts.backlog.count > 0) this.#sendIn(GATHER_MS)
  }

  /** Numbers of results that wait in the backlog, that were dropped, and that the server refused. */
  get stats(): { readonly waiting: number; readonly dropped: number; readonly refused: number } {
    const { count: waiting, dropped } = this.#parts.backlog
    return { waiting, dropped: dropped + this.#dropped, refused: this.#refused }
  }

  /** Adds a result, which is sent soon. */
  push(result: PendingResult): void {
    if (this.#isStopped) return
    this.#live.push({ result: queuedResult(result), sinceMs: this.#parts.monotonicMs() })
    this.#looking ??= setTimeout(() => void this.#moveOld(), BACKLOG_LOOK_MS)
    this.#sendIn(this.#failures === 0 && this.#live.length >= BATCH_RESULTS_MAX ? 0 : GATHER_MS)
  }

  /** Sends the live results, moves those that are not accepted to the backlog, and then stops. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#looking)
    clearTimeout(this.#timer)
    await this.#sending
    clearTimeout(this.#timer)
    this.#failures = 0
    while (this.#live.length > 0 && this.#failures === 0) await this.#send(this.#liveBatch())
    clearTimeout(this.#timer)
    await this.#moveOld(0)
    await this.#parts.backlog.close()
  }

  async #moveOld(ageMs = BACKLOG_AGE_MS): Promise<void> {
    const { backlog, monotonicMs, onSpoolError } = this.#parts
    const lastMs = monotonicMs() - ageMs
    const old = this.#live.filter(({ sinceMs }) => sinceMs <= lastMs)
    try {
      if (old.length > 0) await backlog.add(old.map(({ result }) => result))
      const moved = new Set(old)
      for (const { result } of old) this.#newest.set(result.row[0], result)
      this.#live = this.#live.filter((live) => !moved.has(live))
    } catch (error) {
      // The results stay in memory as long as there is space.
      onSpoolError(error)
      this.#dropped += Math.max(0, this.#live.length - LIVE_MAX)
      this.#live = this.#live.slice(-LIVE_MAX)
    }
    const hasWork = this.#live.length > 0 && !this.#isStopped
    this.#looking = hasWork ? setTimeout(() => void this.#moveOld(), BACKLOG_LOOK_MS) : undefined
  }

  #sendIn(delayMs: number): void {
    if (this.#isStopped) return
    if (this.#sending !== undefined || (this.#timer !== undefined && delayMs > 0)) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sending = this.#sendNext().finally(() => {
        this.#sending = undefined
        this.#plan()
      })
    }, delayMs)
  }

  #plan(): void {
    const pauseMs = this.#pauseMs()
    if (pauseMs !== undefined) this.#sendIn(pauseMs)
  }

  /** Time until the next batch is sent (milliseconds); `undefined` when there is none. */
  #pauseMs(): number | undefined {
    if (this.#failures > 0) {
      const pauseMs = SEND_AGAIN_MS[Math.min(this.#failures, SEND_AGAIN_MS.length) - 1] ?? 0
      return pauseMs * (1 - JITTER * Math.random())
    }
    if (this.#live.length >= this.#batchMax) return 0
    if (this.#hasOlder) return BACKLOG_PAUSE_MS
    return this.#live.length > 0 ? GATHER_MS : undefined
  }

  get #hasOlder(): boolean {
    return this.#urgent.length > 0 || this.#parts.backlog.count > 0
  }

  async #sendNext(): Promise<void> {
    try {
      await this.#send(await this.#nextBatch())
    } catch (error) {
      this.#failures += 1
      this.#parts.onError(error)
    }
  }

  async #nextBatch(): Promise<Batch> {
    const hasLive = this.#live.length > 0
    // The first batch after an outage decides the states. Older results sent before newer ones would count as news.
    const isUnavailable = this.#failures > 0
    const sendsLive = hasLive && (isUnavailable || !(this.#wasLive && this.#hasOlder))
    this.#wasLive = sendsLive
    if (sendsLive) return this.#liveBatch()
    if (this.#isInherited) await this.#inherit()
    if (isUnavailable) this.#urgent = [...this.#newest.values()]
    if (this.#urgent.length > 0) return { source: 'newest', results: this.#ofOneStore(this.#urgent) }
    this.#part ??= [...(await this.#parts.backlog.oldest())]
    return { source: 'backlog', results: this.#ofOneStore(this.#part) }
  }

  /**
   * Makes the newest results of an earlier process urgent. Otherwise the oldest would count as news and open incidents.
   */
  async #inherit(): Promise<void> {
    const inherited = await this.#parts.backlog.newest()
    this.#isInherited = false
    for (const result of inherited) {
      const [series, , dueS] = result.row
      const known = this.#newest.get(series)
      if (known === undefined || known.row[2] < dueS) this.#newest.set(series, result)
    }
    this.#urgent = [...this.#newest.values()]
  }

  #liveBatch(): Batch {
    return { source: 'live', results: this.#ofOneStore(this.#live.map(({ result }) => result)) }
  }

  /** The results of one store. A batch has one store, so that results of an earlier store are refused separately. */
  #ofOneStore(results: readonly QueuedResult[]): readonly QueuedResult[] {
    const taken = results.slice(0, this.#batchMax)
    const others = taken.findIndex(({ store }) => store !== taken[0]?.store)
    return others === -1 ? taken : taken.slice(0, others)
  }

  async #send(batch: Batch): Promise<void> {
    const { link, backlog, onError, onSpoolError } = this.#parts
    const { results } = batch
    const [first] = results
    if (first === undefined) return this.#done(batch)
    try {
      const { refused } = await link.results(this.#request(first.store, results))
      this.#refused += refused.length
      if (this.#failures > 0) this.#urgent = [...this.#newest.values()]
      this.#failures = 0
      this.#newest.clear()
      this.#batchMax = Math.min(BATCH_RESULTS_MAX, 2 * this.#batchMax)
      await this.#done(batch)
    } catch (error) {
      if (!(error instanceof LinkError) || error.isProtocol || !REFUSED_STATUSES.has(error.status)) {
        this.#failures += 1
        this.#batchMax = BATCH_RESULTS_MAX
        return onError(error)
      }
      if (results.length > 1) {
        this.#batchMax = results.length >> 1
        return
      }
      // The only result that the server does not accept.
      this.#refused += 1
      onError(error)
      // Otherwise, on a full disk, it would be sent again forever and block everything behind it.
      await backlog.putAside(first, error.message).catch(onSpoolError)
      await this.#done(batch)
    }
  }

  async #done({ source, results }: Batch): Promise<void> {
    switch (source) {
      case 'live': {
        const sent = new Set(results)
        this.#live = this.#live.filter(({ result }) => !sent.has(result))
        return
      }
      case 'newest':
        this.#urgent = this.#urgent.slice(results.length)
        return
      case 'backlog':
        this.#part = this.#part?.slice(results.length)
        if (this.#part !== undefined && this.#part.length > 0) return
        this.#part = undefined
        await this.#parts.backlog.forget()
    }
  }

  #request(store: string, results: readonly QueuedResult[]): ResultsRequest {
    const { instance, nowMs } = this.#parts
    this.#batch += 1
    return {
      ...{ protocol: PROTOCOL, store, instance, batch: this.#batch, sent_ms: Math.round(nowMs()) },
      results: results.map(({ row }) => row),
      details: results.flatMap(({ detail }) => (detail === null ? [] : [detail])),
      certificates: results.flatMap(({ certificates }) => certificates).slice(0, BATCH_RESULTS_MAX),
    }
  }
}

/** Maximum number of results that stay live when the backlog cannot be written. */
const LIVE_MAX = 100_000
