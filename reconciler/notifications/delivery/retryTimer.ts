import type { ControllerClock } from '../../controller/schedule/clock.ts'

/** Maximum delay of the program's end by pending messages (milliseconds). */
const CLOSE_MS = 5_000

/** Waits between attempts until the program ends. */
export class RetryTimer {
  readonly #clock: ControllerClock
  readonly #abort = new AbortController()
  #isClosing = false
  #fireNow: () => void = () => {}

  constructor(clock: ControllerClock) {
    this.#clock = clock
  }

  /** Whether the program is ending, so that nothing is retried. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Aborts requests when the time is up. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves after `ms` milliseconds, or when the program ends. */
  pause(ms: number): Promise<void> {
    if (this.#isClosing) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve)
      this.#fireNow = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Resolves when `work` has ended, within a few seconds. */
  async close(work: Promise<void> | null): Promise<void> {
    this.#isClosing = true
    this.#fireNow()
    const cancel = this.#clock.after(CLOSE_MS, () => this.#abort.abort())
    await work
    cancel()
  }
}
