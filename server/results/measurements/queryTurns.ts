import type { Query } from './sources.ts'

/** Longest turn of a query (milliseconds). A step of a query takes a few more. */
const TURN_MS = 25

/** Queries that run one after the other, in turns between which other work of the thread runs. */
export class QueryTurns {
  readonly #waiting: (() => Query<void>)[] = []
  readonly #nowMs: () => number
  #isRunning = false
  #isStarted = false

  /** `nowMs` is a monotonic clock (milliseconds). */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Runs `query` when its turn comes, after `start`. It must not throw. */
  add(query: () => Query<void>): void {
    this.#waiting.push(query)
    if (this.#isStarted && !this.#isRunning) this.#next()
  }

  /** Begins with the queries that wait. */
  start(): void {
    this.#isStarted = true
    this.#next()
  }

  #next(): void {
    const query = this.#waiting.shift()
    this.#isRunning = query !== undefined
    if (query !== undefined) this.#turn(query())
  }

  #turn(query: Query<void>): void {
    const untilMs = this.#nowMs() + TURN_MS
    do {
      if (query.next().done === true) {
        setImmediate(() => this.#next())
        return
      }
    } while (this.#nowMs() < untilMs)
    setImmediate(() => this.#turn(query))
  }
}
