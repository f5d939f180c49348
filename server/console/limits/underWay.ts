/** Bounds what is under way for each name at the same time, so that one leaves the server to the others. */
export class UnderWay {
  readonly #max: number
  readonly #counts = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** Does `work`; `undefined`, without doing it, when too much is under way for `name` already. */
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
