import { Worker } from 'node:worker_threads'
import type { MatchRequest } from './matcherWorker.ts'
import type { Regex } from './textMatcher.ts'

/** Longest that one match may take (milliseconds). */
const MATCH_MS_MAX = 250
/** How long a pattern that took longer is not tried again for the same series (milliseconds), and how many are known. */
const QUARANTINE_MS = 600_000
const QUARANTINED_MAX = 5_000

/** One match to make. */
interface Match {
  readonly key: string
  readonly request: MatchRequest
  /** When the check that waits for it ends (monotonic milliseconds). */
  readonly deadlineMs: number
  readonly resolve: (isFound: boolean | undefined) => void
}

/** What a match belongs to. */
export interface MatchOwner {
  /** Names the endpoint and region: one bad pair of pattern and page keeps no other from being checked. */
  readonly series: string
  readonly deadlineMs: number
}

/** Beside the bundle that runs; of sources, the one that the build made. */
const WORKER_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/pharos-matcher.js' : './pharos-matcher.js',
  import.meta.url,
)

/**
 * Finds regular expressions in long texts in a thread of its own, one at a time. A match that takes too long is ended with
 * its thread, and what waited goes to a new one. The thread starts with the first match and runs until `close`.
 */
export class MatcherThread {
  readonly #nowMs: () => number
  readonly #waiting: Match[] = []
  readonly #quarantined = new Map<string, number>()
  #worker: Worker | undefined
  #isReady = false
  #current: Match | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Whether `regex` is found in `text`; `undefined` when that was not known in time. */
  async match(
    { pattern }: Regex,
    text: string,
    { series, deadlineMs }: MatchOwner,
  ): Promise<boolean | undefined> {
    const key = `${series}\n${pattern}`
    if ((this.#quarantined.get(key) ?? 0) > this.#nowMs()) return undefined
    return new Promise((resolve) => {
      this.#waiting.push({ key, request: { pattern, text }, deadlineMs, resolve })
      this.#startNext()
    })
  }

  /** Ends the thread; what waits is not known. */
  async close(): Promise<void> {
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined)
    const worker = this.#worker
    this.#endCurrent()
    await worker?.terminate()
  }

  #startNext(): void {
    if (this.#current !== undefined || this.#waiting.length === 0) return
    this.#worker ??= this.#startWorker()
    if (!this.#isReady) return
    const next = this.#waiting.shift()
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

  /** A new thread; the time that it takes to start counts for no match. */
  #startWorker(): Worker {
    const worker = new Worker(WORKER_FILE)
    worker.on('message', (message: 'ready' | boolean) => {
      if (worker !== this.#worker) return
      if (message === 'ready') this.#isReady = true
      else this.#settle(message)
      this.#startNext()
    })
    const lost = (): void => {
      if (worker !== this.#worker) return
      // One that does not even start would be started for ever.
      if (!this.#isReady) for (const { resolve } of this.#waiting.splice(0)) resolve(undefined)
      this.#endCurrent()
    }
    worker.on('error', lost)
    worker.on('exit', lost)
    return worker
  }

  #settle(isFound: boolean | undefined): void {
    clearTimeout(this.#timer)
    const settled = this.#current
    this.#current = undefined
    settled?.resolve(isFound)
  }

  /** Ends the thread together with what it does; the next match starts another. */
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
