/** Limits concurrency to `placesMax` in total and to `eachMax` for each key. */
export class HostSlots {
  readonly #placesMax: number
  readonly #eachMax: number
  readonly #running = new Map<string, number>()
  readonly #waiting: { readonly key: string; readonly start: () => void }[] = []
  #places = 0

  constructor(placesMax: number, eachMax: number) {
    this.#placesMax = placesMax
    this.#eachMax = eachMax
  }

  /** Waits for a place, executes `run`, and releases the place. */
  async run<Result>(key: string, run: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((start) => {
      this.#waiting.push({ key, start })
      this.#startNext()
    })
    try {
      return await run()
    } finally {
      this.#places -= 1
      this.#running.set(key, (this.#running.get(key) ?? 1) - 1)
      this.#startNext()
    }
  }

  #startNext(): void {
    if (this.#places >= this.#placesMax) return
    const next = this.#waiting.findIndex(({ key }) => (this.#running.get(key) ?? 0) < this.#eachMax)
    const [started] = next === -1 ? [] : this.#waiting.splice(next, 1)
    if (started === undefined) return
    this.#places += 1
    this.#running.set(started.key, (this.#running.get(started.key) ?? 0) + 1)
    started.start()
    this.#startNext()
  }
}
