/** Limits concurrent work per name, so that one client cannot occupy the server. */
export class ConcurrencyLimit {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** Runs `work`; resolves to `undefined` without running it when `name` has reached the limit. */
  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result | undefined> {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#max) return undefined
    this.#counts.set(name, count + 1)
    try {
      return await work()
    } finally {
      const left = (this.#counts.get(name) ?? 1) - 1
      if (left === 0) this.#counts.delete(name)
      else this.#counts.set(name, left)
    }
  }
}
