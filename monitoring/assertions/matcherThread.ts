import { Worker } from 'node:worker_threads'
import type { MatchRequest } from './matcherWorker.ts'
import type { Regex } from './textMatcher.ts'

/** Time limit of one match (milliseconds). */
const MATCH_MS_MAX = 250
/**
 * Time for which a pattern that exceeded the limit is not tried again for the same series (milliseconds), and the
 * maximum number of such patterns.
 */
const QUARANTINE_MS = 600_000
const QUARANTINED_MAX = 5_000

/** One match to run. */
interface Match {
  readonly key: string
  readonly org: string
  readonly request: MatchRequest
  /** End of the check that waits for the match (monotonic milliseconds). */
  readonly deadlineMs: number
  readonly resolve: (isFound: boolean | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The owner of a match. */
export interface MatchOwner {
  /** The organisation, so that the slow matches of one do not use up the time of the checks of others. */
  readonly org: string
  /**
   * Identifies the endpoint and region, so that one bad pair of pattern and page does not block the checks of others.
   */
  readonly series: string
  readonly deadlineMs: number
}

/** The worker beside the running bundle, or the built one when the sources run. */
const WORKER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/pharos-matcher.js' : './pharos-matcher.js',
  import.meta.url,
)

/**
 * Searches long texts for regular expressions in a separate thread, one at a time; organisations take turns. A match that
 * takes too long is ended together with its thread, and waiting matches go to a new one. The thread starts with the first
 * match and runs until `close`.
 */
export class MatcherThread {
  readonly #nowMs: () => number
  readonly #file: URL
  /** Waiting matches by organisation, the one whose turn is next first. None is empty. */
  readonly #waiting = new Map<string, Match[]>()
  readonly #quarantined = new Map<string, number>()
  #worker: Worker | undefined
  #isReady = false
  #current: Match | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(nowMs: () => number = () => performance.now(), file = WORKER_FILE) {
    this.#nowMs = nowMs
    this.#file = file
  }

  /** Whether `regex` matches in `text`; `undefined` when there was no result in time. Rejects without a thread. */
  async match(
    { pattern }: Regex,
    text: string,
    { org, series, deadlineMs }: MatchOwner,
  ): Promise<boolean | undefined> {
    const key = `${series}\n${pattern}`
    if ((this.#quarantined.get(key) ?? 0) > this.#nowMs()) return undefined
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(org) ?? []
      line.push({ key, org, request: { pattern, text }, deadlineMs, resolve, reject })
      this.#waiting.set(org, line)
      this.#startNext()
    })
  }

  /** Ends the thread. Waiting matches resolve with `undefined`. */
  async close(): Promise<void> {
    this.#dropWaiting()
    const worker = this.#worker
    this.#endCurrent()
    await worker?.terminate()
  }

  #startNext(): void {
    if (this.#current !== undefined || this.#waiting.size === 0) return
    this.#worker ??= this.#startWorker()
    if (this.#worker === undefined || !this.#isReady) return
    const next = this.#takeNext()
    if (next === undefined) return
    const budgetMs = Math.min(MATCH_MS_MAX, next.deadlineMs - this.#nowMs())
    if (budgetMs <= 0) {
      next.resolve(undefined)
      this.#startNext()
      return
    }
    this.#current = next
    this.#timer = setTimeout(() => {
      if (budgetMs === MATCH_MS_MAX) this.#quarantine(next.key)
      this.#endCurrent()
    }, budgetMs)
    this.#worker.postMessage(next.request)
  }

  /** The oldest match of the organisation whose turn it is, which moves to the end. */
  #takeNext(): Match | undefined {
    const [line = []] = this.#waiting.values()
    const next = line.shift()
    if (next === undefined) return undefined
    // A Map keeps insertion order.
    this.#waiting.delete(next.org)
    if (line.length > 0) this.#waiting.set(next.org, line)
    return next
  }

  #dropWaiting(): void {
    for (const { resolve } of this.#takeWaiting()) resolve(undefined)
  }

  #takeWaiting(): readonly Match[] {
    const lines = [...this.#waiting.values()]
    this.#waiting.clear()
    return lines.flat()
  }

  /**
   * Starts a thread. Its start time does not count towards any match. At a limit of processes Node throws, and the
   * waiting matches reject: a timer also comes here, where the exception would end the program.
   */
  #startWorker(): Worker | undefined {
    let worker: Worker
    try {
      worker = new Worker(this.#file)
    } catch (error) {
      for (const { reject } of this.#takeWaiting()) reject(error)
      return undefined
    }
    worker.on('message', (message: 'ready' | boolean | undefined) => {
      if (worker !== this.#worker) return
      if (message === 'ready') this.#isReady = true
      else this.#settle(message)
      this.#startNext()
    })
    const lost = (): void => {
      if (worker !== this.#worker) return
      // A thread that fails to start would otherwise be started forever.
      if (!this.#isReady) this.#dropWaiting()
      this.#endCurrent()
    }
    worker.on('error', lost)
    worker.on('exit', lost)
    // Otherwise an agent would not end after its stop.
    worker.unref()
    return worker
  }

  #settle(isFound: boolean | undefined): void {
    clearTimeout(this.#timer)
    const settled = this.#current
    this.#current = undefined
    settled?.resolve(isFound)
  }

  /** Ends the thread with its current match. The next match starts another. */
  #endCurrent(): void {
    const worker = this.#worker
    this.#worker = undefined
    this.#isReady = false
    void worker?.terminate()
    this.#settle(undefined)
    this.#startNext()
  }

  #quarantine(key: string): void {
    if (this.#quarantined.size >= QUARANTINED_MAX) this.#quarantined.clear()
    this.#quarantined.set(key, this.#nowMs() + QUARANTINE_MS)
  }
}
