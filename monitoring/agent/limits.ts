/** A limit that a check counts towards, such as that of its host. */
export interface Limit {
  readonly key: string
  readonly max: number
}

interface Waiter {
  readonly limits: readonly Limit[]
  readonly start: () => void
  isOver: boolean
}

/** Waiters in order; those before `next` have left. */
interface Line {
  readonly waiters: Waiter[]
  next: number
}

/** Waiters that have left are removed in groups, because V8 moves all that follow in a long array. */
const LEFT_MAX = 1_000

/**
 * Limits work in progress, each piece by several limits at once. A piece that finds one of its limits full waits in the
 * queue of that limit, in order, and holds no slot of the others meanwhile.
 */
export class Limits {
  readonly #held = new Map<string, number>()
  readonly #lines = new Map<string, Line>()
  /** Limits whose queues may advance. */
  readonly #freed: Limit[] = []
  #isCalling = false

  /** Number of slots of the limit `key` that are in use. */
  held(key: string): number {
    return this.#held.get(key) ?? 0
  }

  /**
   * Calls `start` once all `limits` have a free slot, immediately if they have one now. The returned function cancels the wait;
   * it does nothing once `start` was called.
   */
  take(limits: readonly Limit[], start: () => void): () => void {
    const waiter: Waiter = { limits, start, isOver: false }
    this.#admit(waiter)
    return () => {
      waiter.isOver = true
    }
  }

  /** Releases the slots that `take` took, so that the next in the queue start. */
  release(limits: readonly Limit[]): void {
    for (const { key } of limits) {
      const left = this.held(key) - 1
      if (left > 0) this.#held.set(key, left)
      else this.#held.delete(key)
    }
    this.#freed.push(...limits)
    // A taker that starts may end immediately and release a slot for the next one. A nested call for each would fill the
    // stack.
    if (this.#isCalling) return
    this.#isCalling = true
    try {
      for (let next = this.#freed.shift(); next !== undefined; next = this.#freed.shift()) {
        this.#callLine(next.key, next.max)
      }
    } finally {
      this.#isCalling = false
    }
  }

  #admit(waiter: Waiter): void {
    const full = waiter.limits.find(({ key, max }) => this.held(key) >= max)
    if (full !== undefined) {
      const line = this.#lines.get(full.key) ?? { waiters: [], next: 0 }
      this.#lines.set(full.key, line)
      line.waiters.push(waiter)
      return
    }
    waiter.isOver = true
    for (const { key } of waiter.limits) this.#held.set(key, this.held(key) + 1)
    waiter.start()
  }

  #callLine(key: string, max: number): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    const { waiters } = line
    while (line.next < waiters.length && this.held(key) < max) {
      const waiter = waiters[line.next]
      line.next += 1
      if (line.next === LEFT_MAX) {
        waiters.splice(0, LEFT_MAX)
        line.next = 0
      }
      // It may find another limit full, and then waits there.
      if (waiter !== undefined && !waiter.isOver) this.#admit(waiter)
    }
    if (line.next === waiters.length) this.#lines.delete(key)
  }
}
