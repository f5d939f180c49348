import type { QueuedResult } from './queuedResult.ts'

/** Results that the server did not accept in time, oldest first. */
export interface Backlog {
  /** Number of waiting results. */
  readonly count: number
  /** Number of results dropped so far, because there were too many or they could not be read. */
  readonly dropped: number
  /**
   * Adds `results`, and drops the oldest ones when there are too many. Rejects when they cannot be stored; none of them
   * is stored then.
   */
  add(results: readonly QueuedResult[]): Promise<void>
  /** The oldest results; empty only when there are none. Returns the same ones until `forget`. */
  oldest(): Promise<readonly QueuedResult[]>
  /** The newest result of each series. */
  newest(): Promise<readonly QueuedResult[]>
  /** Removes the results that `oldest` returned. */
  forget(): Promise<void>
  /** Sets aside a result that the server refuses, so that it does not block the rest. */
  putAside(result: QueuedResult, reason: string): Promise<void>
  close(): Promise<void>
}

/** The newest result of each series in `parts`. Pure. */
export function newestOfEach(parts: Iterable<readonly QueuedResult[]>): readonly QueuedResult[] {
  const newest = new Map<string, QueuedResult>()
  for (const part of parts) {
    for (const result of part) {
      const [series, , dueS] = result.row
      const key = `${result.store} ${series}`
      const known = newest.get(key)
      if (known === undefined || known.row[2] < dueS) newest.set(key, result)
    }
  }
  return [...newest.values()]
}

/** Maximum number of results that wait in memory, about 30 MB. */
const WAITING_MAX = 100_000
/** Maximum number of results that `oldest` returns. */
const PART_RESULTS = 5_000

/** A backlog in memory, which is lost when the process ends. */
export function memoryBacklog(): Backlog {
  let waiting: QueuedResult[] = []
  let given = 0
  let dropped = 0
  return {
    get count() {
      return waiting.length
    },
    get dropped() {
      return dropped
    },
    add: async (results) => {
      waiting = waiting.concat(results)
      const surplus = waiting.length - WAITING_MAX
      if (surplus <= 0) return
      dropped += surplus
      given = Math.max(0, given - surplus)
      waiting = waiting.slice(surplus)
    },
    oldest: async () => {
      given = Math.min(PART_RESULTS, waiting.length)
      return waiting.slice(0, given)
    },
    newest: async () => newestOfEach([waiting]),
    forget: async () => {
      waiting = waiting.slice(given)
      given = 0
    },
    putAside: async () => {},
    close: async () => {},
  }
}
