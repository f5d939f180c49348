/** A limit that something counts against, such as those of its host. */
export interface Limit {
  readonly key: string
  readonly max: number
}

interface Waiter {
  readonly limits: readonly Limit[]
  readonly start: () => void
  isOver: boolean
}

/**
 * How much may be under way at a time, under several limits at once. What finds one of them full waits in the line of
 * that one, in order, and holds nothing meanwhile.
 */
export class Limits {
  readonly #held = new Map<string, number>()
  readonly #lines = new Map<string, Waiter[]>()
  /** Limits whose lines may move on. */
  readonly #freed: Limit[] = []
  #isCalling = false

  /** How much counts against the limit `key`. */
  held(key: string): number {
    return this.#held.get(key) ?? 0
  }

  /**
   * Calls `start` when all `limits` have room, at once when they have it now. The returned function gives up waiting;
   * nothing happens when `start` was called.
   */
  take(limits: readonly Limit[], start: () => void): () => void {
    const waiter: Waiter = { limits, start, isOver: false }
    this.#admit(waiter)
    return () => {
      waiter.isOver = true
    }
  }

  /** Gives back what `take` took, so that the next in line start. */
  release(limits: readonly Limit[]): void {
    for (const { key } of limits) {
      const left = this.held(key) - 1
      if (left > 0) this.#held.set(key, left)
      else this.#held.delete(key)
    }
    this.#freed.push(...limits)
    // One that starts may end at once, and release what the next one waits for: a call for each would fill the stack.
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
      const line = this.#lines.get(full.key) ?? []
      this.#lines.set(full.key, line)
      line.push(waiter)
      return
    }
    waiter.isOver = true
    for (const { key } of waiter.limits) this.#held.set(key, this.held(key) + 1)
    waiter.start()
  }

  #callLine(key: string, max: number): void {
    const line = this.#lines.get(key)
    while (line !== undefined && line.length > 0 && this.held(key) < max) {
      const waiter = line.shift()
      // It may find another limit full, and waits there.
      if (waiter !== undefined && !waiter.isOver) this.#admit(waiter)
    }
    if (line?.length === 0) this.#lines.delete(key)
  }
}
