/** Requests of one person at a time: a browser has six connections to a host, and a person may use two. */
const UNDER_WAY_MAX = 12

/** Counts the requests of each person that are not answered yet, so that one person leaves the server to the others. */
export class UnderWay {
  readonly #counts = new Map<string, number>()

  /** Does `work` for a person; `undefined`, without doing it, when too much is under way already. */
  async run<Result>(personId: string, work: () => Promise<Result>): Promise<Result | undefined> {
    const count = this.#counts.get(personId) ?? 0
    if (count >= UNDER_WAY_MAX) return undefined
    this.#counts.set(personId, count + 1)
    try {
      return await work()
    } finally {
      const left = (this.#counts.get(personId) ?? 1) - 1
      if (left === 0) this.#counts.delete(personId)
      else this.#counts.set(personId, left)
    }
  }
}
