import type { Query } from './sources.ts'

/** Time slice of a query (milliseconds). A step may exceed it by a few. */
const SLICE_MS = 25

/** Runs queries one after another, in time slices between which the thread does other work. */
export class QueryScheduler {
  readonly #waiting: (() => Query<void>)[] = []
  readonly #nowMs: () => number
  #isRunning = false
  #isStarted = false

  /** `nowMs` is a monotonic clock (milliseconds). */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Queues `query`, to run after `start`. It must not throw. */
  add(query: () => Query<void>): void {
    this.#waiting.push(query)
    if (this.#isStarted && !this.#isRunning) this.#next()
  }

  /** Starts running queued queries. */
  start(): void {
    this.#isStarted = true
    this.#next()
  }

  #next(): void {
    const query = this.#waiting.shift()
    this.#isRunning = query !== undefined
    if (query !== undefined) this.#runSlice(query())
  }

  #runSlice(query: Query<void>): void {
    const untilMs = this.#nowMs() + SLICE_MS
    do {
      if (query.next().done === true) {
        setImmediate(() => this.#next())
        return
      }
    } while (this.#nowMs() < untilMs)
    setImmediate(() => this.#runSlice(query))
  }
}
