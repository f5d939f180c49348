import type { ControllerClock } from '../../controller/schedule/clock.ts'

/** Longest that the end of the program waits for what is still to be sent (milliseconds). */
const CLOSE_MS = 5_000

/** Waits between attempts, and stops waiting when the program ends. */
export class RetryTimer {
  readonly #clock: ControllerClock
  readonly #abort = new AbortController()
  #isClosing = false
  #hurry: () => void = () => {}

  constructor(clock: ControllerClock) {
    this.#clock = clock
  }

  /** Whether the program ends: then nothing is tried a second time. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Ends what is on its way when there is no more time for it. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves after `ms` milliseconds, or as soon as the program ends. */
  pause(ms: number): Promise<void> {
    if (this.#isClosing) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve)
      this.#hurry = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Resolves when `work`, if there is any, has ended: within a few seconds. */
  async close(work: Promise<void> | null): Promise<void> {
    this.#isClosing = true
    this.#hurry()
    const cancel = this.#clock.after(CLOSE_MS, () => this.#abort.abort())
    await work
    cancel()
  }
}
